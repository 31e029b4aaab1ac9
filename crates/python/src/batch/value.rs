//! Values of Arrow as JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait};
use arrow_schema::{DataType, Field};
use serde_json::{Map, Number, Value};

/// Why a type has no values in JSON: the way to the field, and its type. `None` where it has.
pub(crate) fn unfit_type(data_type: &DataType, path: &str) -> Option<String> {
    let within = |field: &Field, step: &str| unfit_type(field.data_type(), &format!("{path}{step}"));
    match data_type {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => None,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => within(item, "[]"),
        DataType::Struct(fields) => fields.iter().find_map(|field| within(field, &format!(".{}", field.name()))),
        DataType::Dictionary(_, values) => unfit_type(values, path),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 && is_text(fields[0].data_type()) => within(&fields[1], ".*"),
            _ => Some(format!("{path} is a map whose keys are not text")),
        },
        other => Some(format!("{path} has the type {other}, which a session has no place for")),
    }
}

/// Whether a type is text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The value of a row, of a type that `unfit_type` has nothing against; null where the type has none in JSON.
pub(crate) fn value_of(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float32 => number(f64::from(array.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => number(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::List(_) => items::<i32>(array, row),
        DataType::LargeList(_) => items::<i64>(array, row),
        DataType::FixedSizeList(..) => list(&*array.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            Value::Object(columns.map(|(field, column)| (field.name().clone(), value_of(&**column, row))).collect())
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = value_of(dictionary.keys(), row).as_u64().and_then(|key| usize::try_from(key).ok());
            key.filter(|key| *key < dictionary.values().len())
                .map_or(Value::Null, |key| value_of(&**dictionary.values(), key))
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            let of = |at: usize| match value_of(&**keys, at) {
                Value::String(key) => Some((key, value_of(&**values, at))),
                _ => None,
            };
            Value::Object((0..entries.len()).filter_map(of).collect::<Map<String, Value>>())
        }
        _ => Value::Null,
    }
}

fn items<O: OffsetSizeTrait>(array: &dyn Array, row: usize) -> Value {
    list(&*array.as_list::<O>().value(row))
}

fn list(items: &dyn Array) -> Value {
    Value::Array((0..items.len()).map(|at| value_of(items, at)).collect())
}

/// JSON has no numbers that are not finite.
fn number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
