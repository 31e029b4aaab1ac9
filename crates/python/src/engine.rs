//! The engine as Python has it: a configuration that was built once, for any number of calls and threads.

use std::sync::Arc;

use epitome::formats::validate;
use epitome::recall::{Index, Page};
use epitome::strategy::{Embedder, Value};
use epitome_binding::{
    Compacted, Inspection, Place, Source, choose, config_of, format_of, load, measure_fullness, provider_of, query_of,
    write_session,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callables::{PythonEmbedder, PythonStrategy, Raised, registration};
use crate::failure::{Failure, Raise};
use crate::handed::Handed;
use crate::json_text::WholeText;
use crate::objects::object_from;
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

    /// What a session is made of.
    fn inspect<'py>(
        &self,
        py: Python<'py>,
        data: Handed<'_>,
        format: Option<&str>,
        session: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = data.input();
        let contents = self.without_python(py, |parts| {
            let loaded = load(input, format)?;
            let index = choose(&loaded, session)?;
            Ok(Inspection::measure(parts, &loaded.sessions[index].session, loaded.format))
        })?;
        object_from(py, &contents)
    }

    /// Whether a session should be compacted.
    fn check<'py>(
        &self,
        py: Python<'py>,
        data: Handed<'_>,
        format: Option<&str>,
        session: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = data.input();
        let fullness = self.without_python(py, |parts| {
            let loaded = load(input, format)?;
            let index = choose(&loaded, session)?;
            Ok(measure_fullness(parts, &loaded, index))
        })?;
        object_from(py, &fullness)
    }

    /// Tokens of the messages of a session, its tool definitions not counted in.
    fn count(&self, py: Python<'_>, data: Handed<'_>, format: Option<&str>, session: Option<&str>) -> PyResult<u32> {
        let input = data.input();
        self.without_python(py, |parts| {
            let loaded = load(input, format)?;
            let session = &loaded.sessions[choose(&loaded, session)?].session;
            Ok(parts.engine().ledger(session).total())
        })
    }

    /// Tokens of a text by the engine's counter.
    fn count_text(&self, py: Python<'_>, text: &str) -> u32 {
        py.detach(|| self.parts.runtime.counter.count(text))
    }

    /// The passages of a session that match a query (a `recall::Query` as JSON).
    fn search<'py>(
        &self,
        py: Python<'py>,
        data: Handed<'_>,
        format: Option<&str>,
        session: Option<&str>,
        query: &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        let (input, query) = (data.input(), query.to_vec());
        let page = self.without_python(py, |_| {
            let query = query_of(&query)?;
            let loaded = load(input, format)?;
            let session = &loaded.sessions[choose(&loaded, session)?].session;
            let mut page: Page = Index::build(session).search(&query).map_err(Failure::other)?;
            page.locate(session);
            Ok(page)
        })?;
        object_from(py, &page)
    }

    /// A session in another format, and what that has no place for.
    fn convert<'py>(
        &self,
        py: Python<'py>,
        data: Handed<'_>,
        format: Option<&str>,
        session: Option<&str>,
        to: &str,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let input = data.input();
        let (bytes, warnings) = self.without_python(py, |_| {
            let to = format_of(to)?;
            let loaded = load(input, format)?;
            let index = choose(&loaded, session)?;
            write_session(&loaded, index, &loaded.sessions[index].session, to)
        })?;
        Ok((PyBytes::new(py, &bytes), warnings))
    }

    /// The rules of its provider that a request breaks: where, which rule, what is wrong.
    fn validate(&self, py: Python<'_>, data: &[u8], format: Option<&str>) -> PyResult<Vec<(String, String, String)>> {
        let bytes = data.to_vec();
        self.without_python(py, |_| {
            let format = match format {
                Some(name) => format_of(name)?,
                None => load(bytes.clone(), None)?.format,
            };
            let profile = provider_of(format)?;
            let text = String::from_utf8(bytes).map_err(|error| Failure::Format(format!("not UTF-8: {error}")))?;
            let told = validate(&text, profile).into_iter();
            Ok(told.map(|found| (found.path, found.rule.to_owned(), found.message)).collect())
        })
    }

    /// The strategies of the engine: id, summary, what is lost.
    fn strategies<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.parts.registry.iter().map(|registration| object_from(py, &registration.meta)).collect()
    }
}
