//! What left a session that was compacted.

use std::sync::Arc;

use epitome_binding::{Compacted, content_json};
use pyo3::prelude::*;

use crate::objects::object_of;
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
    /// What left under a handle: a text, or a list of messages; `None` where there is no such handle.
    fn retrieve<'py>(&self, py: Python<'py>, handle: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let json = self.parts.without_python(py, |_| {
            let found = self.compacted.retrieve(handle)?;
            found.map(|content| content_json(&content, self.compacted.to)).transpose()
        })?;
        json.map(|json| object_of(py, json.as_bytes())).transpose()
    }
}
