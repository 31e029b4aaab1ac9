//! Lists of messages, fitted call after call, as Python has it.

use std::sync::Arc;

use epitome::formats::Wire;
use epitome::live::Overflow;
use epitome_binding::{Text, fitter, fitter_from_state, host_of, problem_of, profile_of, status_name};
use epitome_fit::{FitPiece, FitRequest, Fitted};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyTuple};
use serde_json::value::RawValue;

use crate::callables::Raised;
use crate::engine::Engine;
use crate::failure::{Failure, Raise};
use crate::json_text::{WholeText, text_of};
use crate::objects::object_of;
use crate::outcome::content_of;
use crate::parts::Parts;

/// A fitter with the engine's parts. Threads may share it.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Fitter {
    fitter: epitome_fit::Fitter,
    parts: Arc<Parts>,
}

/// What became of a list.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct FitResult {
    fitted: Fitted,
    /// Characters of each message of the list, as JSON.
    lengths: Vec<usize>,
}

/// How much a fitter may remember, where the host says so, and what the host can change.
#[derive(Debug, Default, FromPyObject)]
pub(crate) struct Bounds {
    conversations: Option<usize>,
    memory_bytes: Option<usize>,
    archive_bytes: Option<usize>,
    secret: Option<[u8; 32]>,
    host: String,
    chain: Option<Vec<String>>,
}

impl Bounds {
    fn shared(self) -> Result<epitome_binding::Bounds, Failure> {
        let Self { conversations, memory_bytes, archive_bytes, secret, host, chain } = self;
        let host = host_of(Some(&host))?;
        Ok(epitome_binding::Bounds { conversations, memory_bytes, archive_bytes, secret, host, chain })
    }
}

/// An `int` is the tokens of something that is not shown; anything else is written as JSON.
fn beside(given: Option<Bound<'_, PyAny>>, name: &str) -> PyResult<Text> {
    let Some(given) = given else { return Ok(Text::Nothing) };
    if given.is_instance_of::<PyInt>() {
        return Ok(Text::Tokens(given.extract()?));
    }
    Ok(Text::Json(utf8(text_of(&given, name)?)?))
}

#[pymethods]
impl Fitter {
    /// A fitter for a provider's format: within `budget` tokens, or the budget of the engine; `once` for a list that does
    /// not grow.
    #[new]
    fn new(
        py: Python<'_>,
        engine: &Engine,
        format: &str,
        budget: Option<u32>,
        once: bool,
        bounds: Bounds,
    ) -> PyResult<Self> {
        engine.without_python(py, |parts| {
            let profile = profile_of(Some(format), None)?;
            let fitter = fitter(parts, profile, budget, once, &bounds.shared()?)?;
            Ok(Self { fitter, parts: Arc::clone(parts) })
        })
    }

    /// The fitter whose state these bytes are; its lists are of the format in them unless one is named.
    #[staticmethod]
    fn from_state(
        py: Python<'_>,
        state: &[u8],
        engine: &Engine,
        format: Option<&str>,
        budget: Option<u32>,
        bounds: Bounds,
    ) -> PyResult<Self> {
        engine.without_python(py, |parts| {
            let fitter = fitter_from_state(state, parts, format, budget, &bounds.shared()?)?;
            Ok(Self { fitter, parts: Arc::clone(parts) })
        })
    }

    /// What to send in place of a list, whose format is named where it tells it; with `overflow`, after the provider refused
    /// what was sent.
    #[allow(clippy::too_many_arguments)] // the words of one call of Python, by their names
    #[pyo3(signature = (messages, *, format, system, tools, key, reported_tokens, overflow))]
    fn fit(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        format: Option<&str>,
        system: Option<Bound<'_, PyAny>>,
        tools: Option<Bound<'_, PyAny>>,
        key: WholeText,
        reported_tokens: Option<u64>,
        overflow: Option<(Option<u32>, Option<u32>)>,
    ) -> PyResult<FitResult> {
        let profile = format.map(|format| self.profile(py, format)).transpose()?;
        let texts = texts_of(messages, &self.parts.raised)?;
        let (system, tools) = (beside(system, "system")?, beside(tools, "tools")?);
        let done = py.detach(|| {
            let mut request = FitRequest::new(&texts);
            (request.system, request.tools, request.key) = (system.beside(), tools.beside(), &key.0);
            (request.profile, request.reported_tokens) = (profile, reported_tokens);
            match overflow {
                None => self.fitter.fit(&request),
                Some((limit, actual)) => self.fitter.fit_after(&request, Overflow { limit, actual }),
            }
        });
        if let Some(interrupt) = self.parts.raised.take_interrupt() {
            return Err(interrupt);
        }
        let fitted = done.map_err(|error| {
            Failure::of_fit(error, profile.unwrap_or_else(|| self.fitter.profile())).raise(py, &self.parts.raised)
        })?;
        Ok(FitResult { fitted, lengths: texts.iter().map(String::len).collect() })
    }

    /// What left under a handle, messages in a provider's format.
    fn retrieve<'py>(&self, py: Python<'py>, handle: &str, format: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let profile = self.profile(py, format)?;
        let content = py.detach(|| self.fitter.retrieve(handle));
        content.map(|content| content_of(py, &content, profile.into())).transpose()
    }

    /// The format of its lists, where they do not tell it.
    #[getter]
    fn format(&self) -> &'static str {
        self.fitter.profile().as_str()
    }

    /// Conversations that are remembered, and bytes in all, near enough.
    fn size(&self, py: Python<'_>) -> (usize, usize) {
        py.detach(|| self.fitter.size())
    }

    /// A fitter with the same memory as it is now.
    fn copy(&self, py: Python<'_>) -> Self {
        let fitter = py.detach(|| self.fitter.copy());
        Self { fitter, parts: Arc::clone(&self.parts) }
    }

    /// What it remembers.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = py.detach(|| self.fitter.state());
        let state = state.map_err(|error| Failure::other(error).raise(py, &self.parts.raised))?;
        Ok(PyBytes::new(py, &state))
    }
}

impl Fitter {
    /// The provider's format of that name.
    fn profile(&self, py: Python<'_>, format: &str) -> PyResult<Wire> {
        profile_of(Some(format), None).map_err(|failure| failure.raise(py, &self.parts.raised))
    }
}

#[pymethods]
impl FitResult {
    /// `unchanged`, `replayed`, `compacted`, `hollow` or `infeasible`.
    #[getter]
    fn status(&self) -> &'static str {
        status_name(&self.fitted)
    }

    /// The format that the list was read in.
    #[getter]
    fn format(&self) -> &'static str {
        self.fitted.profile.as_str()
    }

    /// Whether the list is to be sent as it came.
    #[getter]
    fn is_unchanged(&self) -> bool {
        self.fitted.is_unchanged()
    }

    /// Tokens before and after, and the budget.
    #[getter]
    fn figures(&self) -> (u32, u32, u32) {
        (self.fitted.tokens_before, self.fitted.tokens_after, self.fitted.budget)
    }

    /// Characters of each message of the list.
    #[getter]
    fn lengths(&self) -> Vec<usize> {
        self.lengths.clone()
    }

    /// What to send: `("keep", first, end)`, `("edit", index, message, texts)`, `("insert", message, reason, replaces)`.
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for piece in &self.fitted.pieces {
            let piece: Bound<'py, PyTuple> = match piece {
                FitPiece::Keep(kept) => ("keep", kept.start, kept.end).into_pyobject(py)?,
                FitPiece::Edit { index, message, texts } => {
                    let texts: Option<Vec<(&str, &str)>> =
                        texts.as_ref().map(|texts| texts.iter().map(|it| (&*it.pointer, &*it.text)).collect());
                    ("edit", *index, object_of(py, message.as_bytes())?, texts).into_pyobject(py)?
                }
                FitPiece::Insert { message, reason, replaces } => {
                    let message = object_of(py, message.as_bytes())?;
                    ("insert", message, reason.as_deref(), replaces.clone()).into_pyobject(py)?
                }
            };
            list.append(piece)?;
        }
        Ok(list)
    }

    /// A system prompt to send beside the messages, where the list had none and needs one now.
    fn system<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.fitted.system.as_deref().map(|json| object_of(py, json.as_bytes())).transpose()
    }

    /// All that there is to say of the call.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, self.fitted.report_json().as_bytes())
    }

    /// What to say where the list cannot be made to fit; `None` where it fits.
    fn problem(&self) -> Option<String> {
        problem_of(&self.fitted)
    }
}

/// Each message as JSON text: of a list of objects, or of a JSON list as bytes.
fn texts_of(messages: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Vec<String>> {
    if let Ok(bytes) = messages.cast::<PyBytes>() {
        let items: Vec<&RawValue> = serde_json::from_slice(bytes.as_bytes()).map_err(|error| {
            Failure::Format(format!("messages: not a JSON list: {error}")).raise(messages.py(), raised)
        })?;
        return Ok(items.into_iter().map(|item| item.get().to_owned()).collect());
    }
    if messages.is_instance_of::<PyDict>() {
        let problem =
            "messages: a dictionary is not a list of messages; give the list, and `system` and `tools` beside it";
        return Err(PyTypeError::new_err(problem));
    }
    let items = messages.try_iter().map_err(|_| PyTypeError::new_err("messages: not a list of messages"))?;
    items.enumerate().map(|(index, item)| utf8(text_of(&item?, &format!("messages[{index}]"))?)).collect()
}

/// Text that was written as JSON.
fn utf8(json: Vec<u8>) -> PyResult<String> {
    Ok(String::from_utf8(json)?)
}
