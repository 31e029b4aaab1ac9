//! Lists of messages, fitted call after call, as Python has it.

use std::sync::Arc;

use epitome_binding::{call_fitter, make_fitter};
use pyo3::prelude::*;

use crate::engine::{Engine, ReplyObjects, as_objects};
use crate::json_text::Json;
use crate::parts::Parts;

/// A fitter with the engine's parts. Threads may share it.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Fitter {
    fitter: epitome_fit::Fitter,
    parts: Arc<Parts>,
}

#[pymethods]
impl Fitter {
    /// Makes a fitter by options; with `state`, the one whose state these bytes are.
    #[new]
    fn new(py: Python<'_>, engine: &Engine, options: Json, state: Option<Vec<u8>>) -> PyResult<Self> {
        engine.parts.without_python(py, |parts| {
            let fitter = make_fitter(&options.0, state.as_deref(), |_| Ok(&***parts))?;
            Ok(Self { fitter, parts: Arc::clone(parts) })
        })
    }

    /// Carries out a call about it (`epitome_binding::call_fitter`): what it says, and the bytes beside it.
    fn ask<'py>(&self, py: Python<'py>, name: &str, options: Json, data: &[u8]) -> PyResult<ReplyObjects<'py>> {
        as_objects(py, self.parts.without_python(py, |_| call_fitter(name, &options.0, data, |_| Ok(&self.fitter)))?)
    }

    /// The format of its lists, where they do not tell it.
    #[getter]
    fn format(&self) -> &'static str {
        self.fitter.profile().as_str()
    }

    /// A fitter with the same memory as it is now.
    fn copy(&self, py: Python<'_>) -> Self {
        let fitter = py.detach(|| self.fitter.copy());
        Self { fitter, parts: Arc::clone(&self.parts) }
    }
}
