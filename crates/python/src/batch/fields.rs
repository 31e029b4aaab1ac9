//! The fields of columns that are made here.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, StringArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// A field with its values.
pub(crate) type FieldArray = (Field, ArrayRef);

/// Structures of these fields.
pub(crate) fn structures(fields: Vec<FieldArray>, rows: usize) -> PyResult<StructArray> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = fields.into_iter().unzip();
    StructArray::try_new_with_length(Fields::from(fields), arrays, None, rows).map_err(failure)
}

/// The exception of an error of Arrow.
pub(crate) fn failure(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A field of texts. The error says that they are more than a column holds: 2 GiB.
pub(crate) fn texts<T: AsRef<str>>(
    name: &str,
    values: impl ExactSizeIterator<Item = Option<T>> + Clone,
) -> PyResult<FieldArray> {
    let bytes: usize = values.clone().flatten().map(|text| text.as_ref().len()).sum();
    if i32::try_from(bytes).is_err() {
        return Err(PyOverflowError::new_err(format!(
            "the texts of `{name}` take {bytes} bytes, more than the 2 GiB that a column of Arrow holds; give smaller batches"
        )));
    }
    Ok((Field::new(name, DataType::Utf8, true), Arc::new(values.collect::<StringArray>())))
}

/// A field of whole numbers: signed, for Spark has no others.
pub(crate) fn numbers(name: &str, values: impl Iterator<Item = Option<i64>>) -> FieldArray {
    (Field::new(name, DataType::Int64, true), Arc::new(values.collect::<Int64Array>()))
}

/// A field of shares.
pub(crate) fn shares(name: &str, values: impl Iterator<Item = Option<f64>>) -> FieldArray {
    (Field::new(name, DataType::Float64, true), Arc::new(values.collect::<Float64Array>()))
}

/// A field of truths.
pub(crate) fn truths(name: &str, values: impl Iterator<Item = Option<bool>>) -> FieldArray {
    (Field::new(name, DataType::Boolean, true), Arc::new(values.collect::<BooleanArray>()))
}

/// A field of lists of structures: `items` are those of all rows one after the other, `lengths` how many each row has.
pub(crate) fn lists(name: &str, items: StructArray, lengths: impl Iterator<Item = usize>) -> PyResult<FieldArray> {
    let item = Arc::new(Field::new("item", arrow_array::Array::data_type(&items).clone(), true));
    let offsets = arrow_buffer::OffsetBuffer::from_lengths(lengths);
    let array = ListArray::try_new(Arc::clone(&item), offsets, Arc::new(items), None).map_err(failure)?;
    Ok((Field::new(name, DataType::List(item), true), Arc::new(array)))
}
