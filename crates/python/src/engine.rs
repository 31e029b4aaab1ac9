//! The engine as Python has it: a configuration that was built once, for any number of calls and threads.

use std::sync::Arc;

use epitome::Config;
use epitome::strategy::Embedder;
use epitome_binding::{Reply, compact, engine_config, query};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callables::{PendingExceptions, PythonEmbedder, PythonStrategy, registration};
use crate::failure::{Failure, Raise};
use crate::json_text::Json;
use crate::objects::object_of;
use crate::outcome::Outcome;
use crate::parts::Parts;

/// A configuration, built.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) parts: Arc<Parts>,
}

/// An embedder as the Python side hands it over: its name and the callable.
type NamedEmbedder = (String, Py<PyAny>);

/// The value of a reply, and the bytes beside it.
pub(crate) type ReplyObjects<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// Returns a reply as objects.
pub(crate) fn as_objects(py: Python<'_>, reply: Reply) -> PyResult<ReplyObjects<'_>> {
    Ok((object_of(py, reply.json.as_bytes())?, reply.bytes.map(|bytes| PyBytes::new(py, &bytes))))
}

#[pymethods]
impl Engine {
    #[new]
    fn new(
        py: Python<'_>,
        options: Json,
        strategies: Vec<PythonStrategy>,
        summarizer: Option<Py<PyAny>>,
        embedder: Option<NamedEmbedder>,
    ) -> PyResult<Self> {
        let raised = Arc::new(PendingExceptions::default());
        let build = || {
            let mut registry = epitome::registry();
            for strategy in strategies {
                let registered = registry.register(registration(strategy, &raised));
                registered.map_err(|error| Failure::config(format!("{error}; give the strategy another `id`")))?;
            }
            let config = engine_config(&options.0, Config::default(), "None", &registry)?;
            let embedder = embedder.map(|(name, call)| {
                Arc::new(PythonEmbedder { name, call, raised: Arc::clone(&raised) }) as Arc<dyn Embedder>
            });
            Parts::new(&config, registry, summarizer, embedder, Arc::clone(&raised))
        };
        // Nothing of it takes long or calls back.
        let parts = build().map_err(|failure| failure.raise(py, &raised))?;
        Ok(Self { parts: Arc::new(parts) })
    }

    /// Compacts a session, or only says what would be done: what there is to say, with the session after it as bytes, and
    /// what left.
    fn compact<'py>(
        &self,
        py: Python<'py>,
        options: Json,
        data: &[u8],
        only_preview: bool,
    ) -> PyResult<(ReplyObjects<'py>, Outcome)> {
        let data = data.to_vec();
        let (answer, outcome) = self.parts.without_python(py, |parts| {
            let compacted = compact(&options.0, data, only_preview, |_| Ok(&***parts))?;
            let answer = compacted.reply(None, only_preview)?;
            Ok((answer, Outcome { compacted, parts: Arc::clone(parts) }))
        })?;
        Ok((as_objects(py, answer)?, outcome))
    }

    /// Carries out a call that only looks (`epitome_binding::query`).
    fn ask<'py>(&self, py: Python<'py>, name: &str, options: Json, data: &[u8]) -> PyResult<ReplyObjects<'py>> {
        let data = data.to_vec();
        as_objects(
            py,
            self.parts.without_python(py, |parts| query(name, &options.0, data, |_| Ok(&***parts), |_| None))?,
        )
    }
}
