//! Values in TOML.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value as item_of};

fn document(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| format!("it is not TOML: {}", error.to_string().trim_end()))
}

/// The whole text as one value.
pub(super) fn value(text: &str) -> Result<Value, String> {
    toml_edit::de::from_document(document(text)?).map_err(|error| format!("it is not TOML: {error}"))
}

pub(super) fn with(text: &str, keys: &[String], value: &Value) -> Result<String, String> {
    with_item(text, keys, item(value)?)
}

/// The text with what [`own_text`] gave in place of the value that is there now.
pub(super) fn with_own_text(text: &str, keys: &[String], own: &str) -> Result<String, String> {
    let own: toml_edit::Value = own.parse().map_err(|error| format!("its record is damaged: {error}"))?;
    with_item(text, keys, Item::Value(own))
}

fn with_item(text: &str, keys: &[String], mut item: Item) -> Result<String, String> {
    let mut document = document(text)?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in parents {
        if !table.contains_key(key) {
            let mut made = Table::new();
            made.set_implicit(true);
            table.insert(key, Item::Table(made));
        }
        table =
            table.get_mut(key).and_then(Item::as_table_like_mut).ok_or_else(|| format!("`{key}` is not a table"))?;
    }
    match (table.get_mut(last), &mut item) {
        // The comments above and beside what is replaced stay.
        (Some(old @ Item::Value(_)), Item::Value(new)) => {
            if let Some(old) = old.as_value() {
                *new.decor_mut() = old.decor().clone();
            }
            *old = item;
        }
        _ => drop(table.insert(last, item)),
    }
    Ok(document.to_string())
}

pub(super) fn without(text: &str, keys: &[String]) -> Result<String, String> {
    let mut document = document(text)?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    for key in parents {
        table = table.and_then(|table| table.get_mut(key)).and_then(Item::as_table_like_mut);
    }
    if let Some(table) = table {
        table.remove(last);
    }
    Ok(document.to_string())
}

/// The value at a place as the text has it, without the comments around it; `None` where nothing is, or a table.
pub(super) fn own_text(text: &str, keys: &[String]) -> Result<Option<String>, String> {
    let document = document(text)?;
    let mut item: Option<&Item> = Some(document.as_item());
    for key in keys {
        item = item.and_then(Item::as_table_like).and_then(|table| table.get(key));
    }
    let value = item.and_then(Item::as_value).cloned();
    Ok(value.map(|value| value.decorated("", "").to_string()))
}

/// A value as TOML: an object is a table with a header of its own, those within it stand on one line.
fn item(value: &Value) -> Result<Item, String> {
    let Value::Object(fields) = value else { return Ok(Item::Value(inline(value)?)) };
    let mut table = Table::new();
    for (name, field) in fields {
        table.insert(name, item_of(inline(field)?));
    }
    Ok(Item::Table(table))
}

fn inline(value: &Value) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::Null => return Err("TOML has no null".to_owned()),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) => float.into(),
            (None, None) => return Err(format!("TOML has no number {number}")),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(inline).collect::<Result<Array, String>>()?),
        Value::Object(fields) => {
            let mut table = InlineTable::new();
            for (name, field) in fields {
                table.insert(name, inline(field)?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}
