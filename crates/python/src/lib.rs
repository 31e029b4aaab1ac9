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
mod handed;
mod held;
mod json_text;
mod objects;
mod opened;
mod outcome;
mod parts;
mod session;
mod store;
mod words;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use engine::Engine;
use failure::Raise;
use fitter::{FitResult, Fitter};
use json_text::WholeText;
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

/// Tokens of a text by the counter of that name.
#[pyfunction]
fn count_text(py: Python<'_>, text: &str, counter: &str) -> PyResult<u32> {
    let counted = py.detach(|| epitome::tokens::by_name(counter).map(|counter| counter.count(text)));
    counted.map_err(|error| failure::Failure::config(error.to_string()).raise(py, &callables::Raised::default()))
}

/// How a provider's error says that a request was too long, with the figures that it names; `None` where it says
/// something else.
#[pyfunction]
fn context_overflow(status: u16, body: WholeText) -> Option<(Option<u32>, Option<u32>)> {
    epitome::providers::chat::is_context_overflow(status, &body.0).map(|it| (it.limit, it.actual))
}

/// The names of the formats, and whether each can be written.
#[pyfunction]
fn formats() -> Vec<(&'static str, &'static str, bool)> {
    epitome::formats::Format::ALL.iter().map(|(format, name, about)| (*name, *about, format.is_writable())).collect()
}

#[pymodule(gil_used = false)]
fn _epitome(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Engine>()?;
    module.add_class::<FitResult>()?;
    module.add_class::<Fitter>()?;
    module.add_class::<LiveDraft>()?;
    module.add_class::<Outcome>()?;
    module.add_class::<Session>()?;
    module.add_class::<Store>()?;
    module.add_function(wrap_pyfunction!(context_overflow, module)?)?;
    module.add_function(wrap_pyfunction!(count_text, module)?)?;
    module.add_function(wrap_pyfunction!(formats, module)?)?;
    module.add_function(wrap_pyfunction!(json_text_of, module)?)?;
    #[cfg(feature = "batch")]
    batch::add_to(module)?;
    module.add_function(wrap_pyfunction!(object_of, module)?)
}
