//! A column as Python gives it, row by row as the bytes of a session.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use epitome_eval::lake::session_text;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;

use super::value::{is_text, unfit_type, value_of};

/// The rows of a column, over all its chunks.
#[derive(Debug)]
pub(crate) struct Rows {
    chunks: Vec<ArrayRef>,
    /// The number of the first row behind each chunk.
    ends: Vec<usize>,
}

impl Rows {
    /// The rows of an Arrow object, which errors call `name`. It may be text, bytes, or lists and structures of messages.
    pub(crate) fn from_python(column: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let gives = |method: &str| column.hasattr(method);
        if !gives("__arrow_c_array__")? && !gives("__arrow_c_stream__")? {
            let given = column.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!(
                "{name}: an object of the type `{given}` is not a column: it has neither `__arrow_c_array__` nor \
                 `__arrow_c_stream__`; give a column of pyarrow, Polars, pandas or another library that speaks Arrow"
            )));
        }
        let (chunks, field) = column.extract::<AnyArray>()?.into_chunked_array()?.into_inner();
        if let Some(problem) = unfit_column(field.data_type()) {
            return Err(PyTypeError::new_err(format!("{name}{problem}")));
        }
        let mut end = 0;
        let ends = chunks.iter().map(|chunk| {
            end += chunk.len();
            end
        });
        Ok(Self { ends: ends.collect(), chunks })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The bytes of a row's session; `None` where the row is null or there is no such row. Linear in the row.
    pub(crate) fn session(&self, row: usize) -> Option<Vec<u8>> {
        let chunk = self.ends.partition_point(|end| *end <= row);
        let array = self.chunks.get(chunk)?;
        let at = row - chunk.checked_sub(1).map_or(0, |before| self.ends[before]);
        if array.is_null(at) {
            return None;
        }
        let text = match array.data_type() {
            DataType::Binary => return Some(array.as_binary::<i32>().value(at).to_vec()),
            DataType::LargeBinary => return Some(array.as_binary::<i64>().value(at).to_vec()),
            DataType::BinaryView => return Some(array.as_binary_view().value(at).to_vec()),
            _ => value_of(&**array, at),
        };
        session_text(text).map(String::into_bytes)
    }
}

/// What is wrong with the type of a column.
fn unfit_column(data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => None,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => None,
        DataType::Dictionary(_, values) if is_text(values) => None,
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) | DataType::Struct(_) => {
            unfit_type(data_type, "").map(|problem| format!("{problem}; cast it to text, or leave the field out"))
        }
        other => Some(format!(
            " has the type {other}, which is not a session's; give text with a session in each row, or lists of messages"
        )),
    }
}
