//! Values in JSON with comments: those of the outermost object, for no set-up puts one deeper.

use std::ops::Range;

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{ParseOptions, parse_to_ast};
use serde_json::Value;

use super::document::{MARK, Spot};

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

/// A text behind its mark, and the bytes of the mark.
fn without_mark(text: &str) -> (usize, &str) {
    let plain = text.strip_prefix(MARK).unwrap_or(text);
    (text.len() - plain.len(), plain)
}

/// The outermost object of a text without a mark; `None` where nothing is in the text.
fn object(plain: &str) -> Result<Option<Object<'_>>, String> {
    let parsed = parse_to_ast(plain, &Default::default(), &OPTIONS);
    match parsed.map_err(|error| format!("it is not JSON: {error}"))?.value {
        None => Ok(None),
        Some(jsonc_parser::ast::Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err("it is not a JSON object".to_owned()),
    }
}

/// The whole text as one value; an empty text is an empty object.
pub(super) fn value(text: &str) -> Result<Value, String> {
    let Some(object) = object(without_mark(text).1)? else { return Ok(Value::Object(serde_json::Map::new())) };
    is_single(&object)?;
    Ok(jsonc_parser::ast::Value::Object(object).into())
}

/// Holds that no name is in the objects twice: which of the two counts, each program says differently.
fn is_single(object: &Object<'_>) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    for property in &object.properties {
        if let Some(inner) = property.value.as_object() {
            is_single(inner)?;
        }
        let name = property.name.as_str();
        if !names.insert(name) {
            return Err(format!("`{name}` is in one object twice: leave one of them"));
        }
    }
    Ok(())
}

/// Where the value of a name stands, or its entry goes: in front of all others, for it needs no comma of theirs there.
pub(super) fn spot(text: &str, keys: &[String], value: &Value) -> Result<Spot, String> {
    let [key] = keys else { return Err(format!("`{}` is not in the outermost object", keys.join("."))) };
    let (mark, plain) = without_mark(text);
    let name = Value::from(key.as_str());
    let pretty = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?.replace('\n', "\n  ");
    let Some(object) = object(plain)? else {
        return Ok(Spot::Free(text.len(), format!("{{\n  {name}: {pretty}\n}}\n")));
    };
    if let Some(property) = object.get(key) {
        let range = property.value.range();
        return Ok(Spot::There(mark + range.start..mark + range.end));
    }
    let end = if object.properties.is_empty() { "\n" } else { "," };
    Ok(Spot::Free(mark + object.range.start + 1, format!("\n  {name}: {pretty}{end}")))
}

/// The text of a name with its value and a comma beside it, where an agent wrote the file anew since.
pub(super) fn entry(text: &str, keys: &[String]) -> Result<Option<Range<usize>>, String> {
    let (mark, plain) = without_mark(text);
    let object = object(plain)?;
    let Some(property) = object.as_ref().zip(keys.first()).and_then(|(object, key)| object.get(key)) else {
        return Ok(None);
    };
    let (front, behind) = (plain[..property.range.start].trim_end(), &plain[property.range.end..]);
    let range = match behind.trim_start().strip_prefix(',') {
        Some(rest) => front.len()..plain.len() - rest.len(),
        None => front.trim_end_matches(',').len()..property.range.end,
    };
    Ok(Some(mark + range.start..mark + range.end))
}
