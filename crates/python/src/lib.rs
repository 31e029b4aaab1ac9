//! The native part of the Python package `epitome-context`: `epitome_context._epitome`.
//!
//! It converts and lets Python go; what a call means is in `epitome-binding`, and what people import is
//! `python/epitome_context`. Each call
//! takes JSON text that `json_text` makes of Python objects in one walk, works without the interpreter's lock, and gives
//! objects back through `objects`.

#[cfg(feature = "batch")]
mod batch;
mod callables;
mod engine;
mod failure;
mod fitter;
mod json_text;
mod objects;
mod open_store;
mod outcome;
mod parts;
mod session;
mod session_backend;
mod session_bytes;
mod store;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use engine::Engine;
use fitter::Fitter;
use outcome::Outcome;
use session::{LiveDraft, Session};
use store::Store;

/// The JSON text of an object, which errors call `name`.
#[pyfunction]
fn json_text_of<'py>(py: Python<'py>, value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &json_text::text_of(value, name)?))
}

/// The object of a JSON text.
#[pyfunction]
fn object_of<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    objects::object_of(py, text)
}

#[pymodule(gil_used = false)]
fn _epitome(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Engine>()?;
    module.add_class::<Fitter>()?;
    module.add_class::<LiveDraft>()?;
    module.add_class::<Outcome>()?;
    module.add_class::<Session>()?;
    module.add_class::<Store>()?;
    module.add_function(wrap_pyfunction!(json_text_of, module)?)?;
    #[cfg(feature = "batch")]
    batch::add_to(module)?;
    module.add_function(wrap_pyfunction!(object_of, module)?)
}
