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
    let mut item = item(value)?;
    match (table.get_mut(last), &mut item) {
        // The comments above and beside what is replaced stay, and a table keeps its place in the text.
        (Some(old @ Item::Value(_)), Item::Value(new)) => {
            if let Some(old) = old.as_value() {
                *new.decor_mut() = old.decor().clone();
            }
            *old = item;
        }
        (Some(old @ Item::Table(_)), Item::Table(new)) => {
            if let Some(old) = old.as_table() {
                *new.decor_mut() = old.decor().clone();
                new.set_position(old.position());
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

/// What is at a place, as a text with nothing else in it; `None` where nothing is.
pub(super) fn own_text(text: &str, keys: &[String]) -> Result<Option<String>, String> {
    let document = document(text)?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let mut from: Option<&dyn TableLike> = Some(document.as_table());
    let mut own = DocumentMut::new();
    let mut to: &mut Table = own.as_table_mut();
    for key in parents {
        from = from.and_then(|table| table.get(key)).and_then(Item::as_table_like);
        let mut made = Table::new();
        made.set_implicit(true);
        to = to.entry(key).or_insert(Item::Table(made)).as_table_mut().ok_or("a table was made")?;
    }
    let Some((key, item)) = from.and_then(|table| table.get_key_value(last)) else { return Ok(None) };
    to.insert_formatted(key, item.clone());
    Ok(Some(own.to_string()))
}

/// The text with what [`own_text`] gave in place of what is there.
pub(super) fn with_own_text(text: &str, keys: &[String], own: &str) -> Result<String, String> {
    let mut own: DocumentMut = own.parse().map_err(|error| format!("its record is damaged: {error}"))?;
    let mut document = document(text)?;
    let Some((last, parents)) = keys.split_last() else { return Err("a place has a name".to_owned()) };
    let missing = || format!("`{}` is not there", keys.join("."));
    let from = table_at(&mut own, parents).ok_or_else(missing)?;
    let to = table_at(&mut document, parents).ok_or_else(missing)?;
    let (key, item) = from.get_key_value(last).ok_or_else(missing)?;
    let (decor, mut item) = (key.leaf_decor().clone(), item.clone());
    let now = to.get_mut(last).ok_or_else(missing)?;
    match (&mut *now, &mut item) {
        // What was written beside the value since stays.
        (Item::Value(now), Item::Value(old)) => *old.decor_mut() = now.decor().clone(),
        (now, old) => set_position(old, now.as_table().and_then(Table::position)),
    }
    if now.is_table() == item.is_table() {
        *now = item;
    } else {
        to.insert(last, item);
        if let Some(mut key) = to.key_mut(last) {
            *key.leaf_decor_mut() = decor;
        }
    }
    Ok(document.to_string())
}

/// The table at a place.
fn table_at<'a>(document: &'a mut DocumentMut, keys: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in keys {
        table = table.get_mut(key)?.as_table_like_mut()?;
    }
    Some(table)
}

/// Puts all tables of an item at one place of the text, in their order.
fn set_position(item: &mut Item, position: Option<isize>) {
    let tables: Vec<&mut Table> = match item {
        Item::Table(table) => vec![table],
        Item::ArrayOfTables(tables) => tables.iter_mut().collect(),
        Item::None | Item::Value(_) => Vec::new(),
    };
    for table in tables {
        table.set_position(position);
        table.iter_mut().for_each(|(_, inner)| set_position(inner, position));
    }
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
