//! The bytes of a session from Python.

use epitome_binding::Input;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The bytes of a session, and whether it came as objects (`bytes_of` in `epitome_context/_input.py`).
#[derive(FromPyObject)]
pub(crate) struct SessionBytes<'py>(Bound<'py, PyBytes>, bool);

impl SessionBytes<'_> {
    /// The same without Python.
    pub(crate) fn input(&self) -> Input {
        Input { bytes: self.0.as_bytes().to_vec(), is_objects: self.1 }
    }
}
