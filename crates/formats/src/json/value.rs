//! JSON fields, read leniently: a value of the wrong type counts as absent.
//!
//! Indexing a [`Value`] with a key that is not there, or something that is not an object, gives `Null`; so a path of
//! keys can be followed without a check at each step.

use std::sync::Arc;

use epitome_session::Arguments;
use serde_json::Value;
use serde_json::value::RawValue;

/// The elements of a list; none where the value is not a list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text that a value is; `None` where it is empty or something else.
pub(crate) fn non_empty_str(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// An id as text: a string, or a number written out.
pub(crate) fn id(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A value as a model would read it: text as it is, nothing for `null`, everything else as compact JSON.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The arguments of a call: a recorded string stays byte for byte, an object is written out.
pub(crate) fn arguments(value: &Value) -> Arguments {
    match value {
        Value::String(text) => arguments_text(text),
        Value::Null => Arguments::Json(Arc::from("{}")),
        other => Arguments::Json(Arc::from(other.to_string())),
    }
}

/// The arguments of a call that were recorded as text.
pub(crate) fn arguments_text(text: &str) -> Arguments {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => Arguments::Json(Arc::from(text)),
        Err(_) => Arguments::Text(Arc::from(text)),
    }
}

/// The first object among a list's first elements: what recognition looks at.
pub(crate) fn first_object(list: &Value) -> Option<&Value> {
    items(list).iter().take(8).find(|item| item.is_object())
}
