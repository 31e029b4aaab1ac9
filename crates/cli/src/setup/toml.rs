//! Values in TOML.

use serde::Serialize as _;
use serde_json::Value;
use toml_edit::ser::ValueSerializer;
use toml_edit::{Document, Item, Key, TableLike};

use super::document::{MARK, Spot};

/// The whole text as one value.
pub(super) fn value(text: &str) -> Result<Value, String> {
    toml_edit::de::from_str(text).map_err(|error| format!("it is not TOML: {}", error.to_string().trim_end()))
}

/// A value on one line.
pub(super) fn written(value: &Value) -> Result<String, String> {
    let value = value.serialize(ValueSerializer::new()).map_err(|error| error.to_string())?;
    Ok(value.to_string())
}

/// Where a value stands, or its entry goes: an object is a table with a header of its own at the end, another value goes
/// behind the header of its table, or behind the last of the values in front of all tables.
pub(super) fn spot(text: &str, keys: &[String], value: &Value) -> Result<Spot, String> {
    let document = Document::parse(text).map_err(|error| format!("it is not TOML: {error}"))?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let mut table: Option<&dyn TableLike> = Some(document.as_table());
    let mut holder = None;
    for key in parents {
        holder = table.and_then(|table| table.get(key));
        let no_table = || format!("`{key}` is not a table");
        table = holder.map(|item| item.as_table_like().ok_or_else(no_table)).transpose()?;
    }
    if let Some(item) = table.and_then(|table| table.get(last)) {
        let range = item.as_value().and_then(toml_edit::Value::span);
        return range.map(Spot::There).ok_or_else(|| format!("`{}` is a table", keys.join(".")));
    }
    let path = keys.iter().map(|key| Key::new(key).display_repr().into_owned()).collect::<Vec<_>>().join(".");
    let name = Key::new(last).display_repr().into_owned();
    let start = if text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
    let line_behind = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let (at, entry) = match (value, holder) {
        (Value::Object(fields), _) => {
            let mut entry = if text.len() > start { format!("\n[{path}]\n") } else { format!("[{path}]\n") };
            for (name, field) in fields {
                entry += &format!("{} = {}\n", Key::new(name).display_repr(), written(field)?);
            }
            (text.len(), entry)
        }
        (_, Some(Item::Value(inline))) => {
            let comma = if inline.as_inline_table().is_some_and(|table| table.is_empty()) { "" } else { "," };
            let at = inline.span().map_or(start, |range| range.start + 1);
            return Ok(Spot::Free(at, format!(" {name} = {}{comma}", written(value)?)));
        }
        (_, Some(Item::Table(table))) if !table.is_implicit() && !table.is_dotted() => {
            (line_behind(table.span().map_or(start, |range| range.end)), format!("{name} = {}\n", written(value)?))
        }
        _ => {
            let ends = document.iter().filter_map(|(_, item)| item.as_value()?.span().map(|range| range.end));
            (ends.max().map_or(start, line_behind), format!("{path} = {}\n", written(value)?))
        }
    };
    let is_behind_a_line = at == start || text[..at].ends_with('\n');
    Ok(Spot::Free(at, if is_behind_a_line { entry } else { format!("\n{entry}") }))
}
