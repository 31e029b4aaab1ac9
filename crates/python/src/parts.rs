//! The parts of an engine that every call of it shares.

use std::ops::Deref;
use std::sync::Arc;

use epitome::Config;
use epitome::strategy::{Embedder, Registry, Summarizer};
use epitome_binding::MakeSummarizer;
use pyo3::prelude::*;

use crate::callables::{PendingExceptions, PythonSummarizer};
use crate::failure::{Failure, Raise as _};

/// A configuration, built, with a host's callables.
#[derive(Debug)]
pub(crate) struct Parts {
    shared: epitome_binding::Parts,
    pub(crate) raised: Arc<PendingExceptions>,
}

impl Parts {
    /// Builds them. `summarizer` and `embedder` stand in place of what the configuration asks for.
    pub(crate) fn new(
        config: &Config,
        registry: Registry,
        summarizer: Option<Py<PyAny>>,
        embedder: Option<Arc<dyn Embedder>>,
        raised: Arc<PendingExceptions>,
    ) -> Result<Self, Failure> {
        let make = |call| -> MakeSummarizer {
            let raised = Arc::clone(&raised);
            Box::new(move |second| Arc::new(PythonSummarizer { call, second, raised }) as Arc<dyn Summarizer>)
        };
        let shared = epitome_binding::Parts::new(config, registry, summarizer.map(make), embedder)?;
        Ok(Self { shared, raised })
    }

    /// Does `work` with the parts while the interpreter's lock is released; what interrupted a callable meanwhile is raised.
    pub(crate) fn without_python<T: Send>(
        self: &Arc<Self>,
        py: Python<'_>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| work(self));
        match self.raised.take_interrupt() {
            Some(interrupt) => Err(interrupt),
            None => done.map_err(|failure| failure.raise(py, &self.raised)),
        }
    }
}

/// Parts with callables are parts.
impl Deref for Parts {
    type Target = epitome_binding::Parts;

    fn deref(&self) -> &Self::Target {
        &self.shared
    }
}
