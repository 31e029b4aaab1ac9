//! Values in JSON with comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// What agents read: JSON, some with comments, some with a comma behind the last. All else is refused.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn root(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| format!("it is not JSON: {error}"))
}

/// The whole text as one value; an empty text is an empty object.
pub(super) fn value(text: &str) -> Result<Value, String> {
    let root = root(text)?;
    let Some(node) = root.value() else { return Ok(Value::Object(serde_json::Map::new())) };
    let object = node.as_object().ok_or("it is not a JSON object")?;
    is_single(&object)?;
    object.to_serde_value().ok_or_else(|| "it is not JSON that can be read".to_owned())
}

/// Holds that no name is in the objects twice: which of the two counts, each program says differently.
fn is_single(object: &CstObject) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    for property in object.properties() {
        let name = property.decoded_name().unwrap_or_default();
        if let Some(inner) = property.object_value() {
            is_single(&inner)?;
        }
        if !names.insert(name.clone()) {
            return Err(format!("`{name}` is in one object twice: leave one of them"));
        }
    }
    Ok(())
}

pub(super) fn with(text: &str, keys: &[String], value: &Value) -> Result<String, String> {
    let root = root(text)?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let not_a_table = |key: &String| format!("`{key}` is not an object");
    let mut object = root.object_value_or_create().ok_or("it is not a JSON object")?;
    for key in parents {
        object = object.object_value_or_create(key).ok_or_else(|| not_a_table(key))?;
    }
    match object.get(last) {
        Some(property) => property.set_value(input(value)),
        None => drop(object.append(last, input(value))),
    }
    Ok(root.to_string())
}

pub(super) fn without(text: &str, keys: &[String]) -> Result<String, String> {
    let root = root(text)?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let mut object = root.object_value();
    for key in parents {
        object = object.and_then(|object| object.object_value(key));
    }
    if let Some(property) = object.and_then(|object| object.get(last)) {
        property.remove();
    }
    Ok(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, field)| (name.clone(), input(field))).collect())
        }
    }
}
