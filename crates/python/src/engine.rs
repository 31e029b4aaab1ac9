//! The engine as Python has it: a configuration that was built once, for any number of calls and threads.

use std::sync::Arc;

use epitome::strategy::{Embedder, Value};
use epitome_binding::{Compacted, Place, Source, ask, config_of};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callables::{PythonEmbedder, PythonStrategy, Raised, registration};
use crate::failure::{Failure, Raise};
use crate::handed::Handed;
use crate::json_text::{WholeText, text_of};
use crate::objects::object_of;
use crate::outcome::Outcome;
use crate::parts::Parts;
use crate::words::words_of;

/// A configuration, built.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) parts: Arc<Parts>,
}

/// A configuration as the Python side hands it over: the text and name of a file, or a table as JSON.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Text(String, String),
    Table(Vec<u8>),
}

/// An embedder as the Python side hands it over: its name and the callable.
type GivenEmbedder = (String, Py<PyAny>);

impl Engine {
    /// Does `work` with the engine's parts while Python is let go.
    pub(crate) fn without_python<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Arc<Parts>) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let parts = &self.parts;
        let done = py.detach(|| work(parts));
        match parts.raised.take_interrupt() {
            Some(interrupt) => Err(interrupt),
            None => done.map_err(|failure| failure.raise(py, &parts.raised)),
        }
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (config, model, window, reserve_output, strategies, summarizer, embedder))]
    #[allow(clippy::too_many_arguments)] // the words of one call of Python, by their names
    fn new(
        py: Python<'_>,
        config: Option<Given>,
        model: Option<String>,
        window: Option<u32>,
        reserve_output: Option<u32>,
        strategies: Vec<PythonStrategy>,
        summarizer: Option<Py<PyAny>>,
        embedder: Option<GivenEmbedder>,
    ) -> PyResult<Self> {
        let raised = Arc::new(Raised::default());
        let keywords = [
            ("budget.model", model.map(Value::from)),
            ("budget.window", window.map(Value::from)),
            ("budget.reserve_output", reserve_output.map(Value::from)),
        ];
        let build = || {
            let mut registry = epitome::registry();
            for strategy in strategies {
                let registered = registry.register(registration(strategy, &raised));
                registered.map_err(|error| Failure::config(format!("{error}; give the strategy another `id`")))?;
            }
            let source = match &config {
                None => Source::Nothing,
                Some(Given::Text(text, name)) => Source::Text { text, name },
                Some(Given::Table(json)) => Source::Table { json, null: "None" },
            };
            let config = config_of(source, &keywords, &registry)?;
            let embedder = embedder.map(|(name, call)| {
                Arc::new(PythonEmbedder { name, call, raised: Arc::clone(&raised) }) as Arc<dyn Embedder>
            });
            Parts::new(&config, registry, summarizer, embedder, Arc::clone(&raised))
        };
        // Nothing of it takes long or calls back.
        let parts = build().map_err(|failure| failure.raise(py, &raised))?;
        Ok(Self { parts: Arc::new(parts) })
    }

    /// Compacts a session, or only says what would be done.
    #[pyo3(signature = (data, *, format, session, to, budget, chain, mode, task, focus, settings, only_preview))]
    #[allow(clippy::too_many_arguments)] // the words of one call of Python, by their names
    fn compact(
        &self,
        py: Python<'_>,
        data: Handed<'_>,
        format: Option<String>,
        session: Option<String>,
        to: Option<String>,
        budget: Option<Bound<'_, PyAny>>,
        chain: Option<Vec<String>>,
        mode: Option<&str>,
        task: Option<&str>,
        focus: Option<WholeText>,
        settings: Option<Vec<u8>>,
        only_preview: bool,
    ) -> PyResult<Outcome> {
        let budget = budget.map(|given| ("budget", given));
        let words = words_of(budget, chain, mode, task, focus, settings.as_deref());
        let words = words.map_err(|failure| failure.raise(py, &self.parts.raised))?;
        let place = Place { format, session, to };
        let input = data.input();
        self.without_python(py, |parts| {
            let compacted = Compacted::new(parts, input, &place, &words, only_preview)?;
            match Failure::of_report(&compacted.report).filter(|_| !only_preview) {
                Some(failure) => Err(failure),
                None => Ok(Outcome { compacted, parts: Arc::clone(parts) }),
            }
        })
    }

    /// Carries out a call that only looks (`epitome_binding::ask`): what it says, and the bytes beside it.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        words: &Bound<'py, PyAny>,
        data: &[u8],
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>)> {
        let (words, data) = (text_of(words, name)?, data.to_vec());
        let words = String::from_utf8_lossy(&words);
        let answer = self.without_python(py, |parts| ask(name, &words, data, |_| Ok(&***parts)))?;
        Ok((object_of(py, answer.json.as_bytes())?, answer.bytes.map(|bytes| PyBytes::new(py, &bytes))))
    }
}
