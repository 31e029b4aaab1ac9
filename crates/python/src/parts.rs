//! The parts of an engine that every call of it shares.

use std::ops::Deref;
use std::sync::Arc;

use epitome::Config;
use epitome::strategy::{Embedder, Registry, Summarizer};
use epitome_binding::MakeSummarizer;
use pyo3::prelude::*;

use crate::callables::{PythonSummarizer, Raised};
use crate::failure::Failure;

/// What a configuration and a host's callables come to.
#[derive(Debug)]
pub(crate) struct Parts {
    shared: epitome_binding::Parts,
    pub(crate) raised: Arc<Raised>,
}

impl Parts {
    /// Builds them. `summarizer` and `embedder` stand in place of what the configuration asks for.
    pub(crate) fn new(
        config: &Config,
        registry: Registry,
        summarizer: Option<Py<PyAny>>,
        embedder: Option<Arc<dyn Embedder>>,
        raised: Arc<Raised>,
    ) -> Result<Self, Failure> {
        let make = |call| -> MakeSummarizer {
            let raised = Arc::clone(&raised);
            Box::new(move |second| Arc::new(PythonSummarizer { call, second, raised }) as Arc<dyn Summarizer>)
        };
        let shared = epitome_binding::Parts::new(config, registry, summarizer.map(make), embedder)?;
        Ok(Self { shared, raised })
    }
}

/// Parts with callables are parts.
impl Deref for Parts {
    type Target = epitome_binding::Parts;

    fn deref(&self) -> &Self::Target {
        &self.shared
    }
}
