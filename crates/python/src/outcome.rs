//! What became of a session that was compacted, or only looked at.

use std::sync::Arc;

use epitome::formats::Format;
use epitome::strategy::ArchivedContent;
use epitome_binding::{Compacted, content_json};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callables::Raised;
use crate::failure::Raise;
use crate::objects::{object_from, object_of};
use crate::parts::Parts;

/// One session after a compaction, with what it was read from.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) compacted: Compacted,
    pub(crate) parts: Arc<Parts>,
}

#[pymethods]
impl Outcome {
    /// The report as a dictionary.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_from(py, &self.compacted.report)
    }

    /// Tokens of each message before.
    #[getter]
    fn sizes(&self) -> Vec<u32> {
        self.compacted.sizes.clone()
    }

    /// The name of the format that is written.
    #[getter]
    fn format(&self) -> &'static str {
        self.compacted.to.as_str()
    }

    /// What was passed over in reading.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.compacted.warnings()
    }

    /// The session in the format to write, and what that has no place for.
    fn write<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let written = py.detach(|| self.compacted.write());
        let (bytes, warnings) = written.map_err(|failure| failure.raise(py, &self.parts.raised))?;
        Ok((PyBytes::new(py, &bytes), warnings))
    }

    /// What left under a handle: a text, or a list of messages; `None` where there is no such handle.
    fn retrieve<'py>(&self, py: Python<'py>, handle: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.compacted.retrieve(handle).map_err(|failure| failure.raise(py, &self.parts.raised))?;
        found.map(|content| content_of(py, &content, self.compacted.to)).transpose()
    }
}

/// What left the context as an object: a text, or messages in a provider's format.
pub(crate) fn content_of<'py>(
    py: Python<'py>,
    content: &ArchivedContent,
    format: Format,
) -> PyResult<Bound<'py, PyAny>> {
    if let ArchivedContent::Text(text) = content {
        return Ok(text.into_pyobject(py)?.into_any());
    }
    let json = content_json(content, format).map_err(|failure| failure.raise(py, &Raised::default()))?;
    object_of(py, json.as_bytes())
}
