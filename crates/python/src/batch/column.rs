//! A column that was made here, as every library of Python that speaks Arrow takes it.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyCapsule;

use super::fields::{FieldArray, failure, structures, texts};
use super::value::value_of;
use crate::objects::object_from;

// The names of the Arrow PyCapsule interface.
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A column: structures, or texts.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Column {
    array: ArrayRef,
}

impl Column {
    /// The column of these fields.
    pub(crate) fn new(fields: Vec<FieldArray>, rows: usize) -> PyResult<Self> {
        Ok(Self { array: Arc::new(structures(fields, rows)?) })
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.array.data_type()).map_err(failure)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }
}

/// A column of the texts of sessions.
#[pyfunction]
pub(super) fn text_column(sessions: Vec<Option<PyBackedBytes>>) -> PyResult<Column> {
    let text = |(row, session): (usize, &Option<PyBackedBytes>)| -> PyResult<Option<String>> {
        let Some(bytes) = session else { return Ok(None) };
        let text = std::str::from_utf8(bytes);
        text.map(|text| Some(text.to_owned()))
            .map_err(|error| PyValueError::new_err(format!("sessions[{row}]: not UTF-8: {error}")))
    };
    let sessions: Vec<Option<String>> = sessions.iter().enumerate().map(text).collect::<PyResult<_>>()?;
    let (_, array) = texts("sessions", sessions.iter().map(Option::as_deref))?;
    Ok(Column { array })
}

#[pymethods]
impl Column {
    /// The column for whoever takes it; the type is always its own.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface lets a producer give its own type where another is asked for.
        drop(requested_schema);
        let array = FFI_ArrowArray::new(&self.array.to_data());
        Ok((self.schema(py)?, PyCapsule::new_with_value(py, array, ARRAY)?))
    }

    /// Its type.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema(py)
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// A row as a dictionary.
    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.array.len();
        let at = if index < 0 { index.checked_add_unsigned(rows) } else { Some(index) };
        match at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < rows) {
            Some(at) => object_from(py, &value_of(&*self.array, at)),
            None => Err(PyIndexError::new_err(format!("there is no row {index}: the column has {rows}"))),
        }
    }

    fn __repr__(&self) -> String {
        let of = match self.array.data_type() {
            DataType::Struct(fields) => {
                let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
                names.join(", ")
            }
            _ => "sessions".to_owned(),
        };
        let rows = self.array.len();
        format!("<Column of {rows} row{}: {of}>", if rows == 1 { "" } else { "s" })
    }
}
