//! A request's list row by row, for hosts that keep their messages: each row as it was read but for the texts that
//! changed, without the repairs and merges of a rendering.

use std::collections::HashSet;
use std::ops::Range;

use epitome_session::{Block, Content, Dialect, Entry, EntryKey};
use serde_json::Value;

use super::WriteError;
use super::target::Target;
use crate::gemini::write::changed_part;
use crate::json::{self, Object, ObjectWriter};
use crate::message::write_messages;
use crate::openai_responses::blocks::ResponsesItem;
use crate::render::changed::{set_text, sign_anew};
use crate::render::{RequestItem, Wire, dialect_of};
use crate::{anthropic, openai_responses};

/// The names of the fields that hold the id of a call in a result, in the three forms.
const RESULT_IDS: [&str; 2] = ["tool_call_id", "tool_use_id"];

/// A row of the list and what becomes of it.
#[derive(Default)]
struct Row<'t> {
    /// The record of the row; `None` for one that holds no message of the session.
    record: Option<u32>,
    /// Messages of the log that it holds.
    members: usize,
    /// Those of them that the view shows.
    shown: usize,
    /// Those of them that the view shows with changes.
    edited: Vec<&'t Entry>,
}

/// Returns the rows of the session's view; `items` are those that were read. A row whose messages left goes, and a message
/// that was added is rendered in the place that it has in the view.
///
/// Linear in the session and the list.
///
/// # Errors
///
/// [`WriteError::Row`] where a row would have to change in another way than by a shorter text.
pub(super) fn rows(
    target: &Target<'_>,
    profile: Wire,
    items: &[(Range<usize>, &str)],
) -> Result<Vec<RequestItem>, WriteError> {
    let number = |record: &u32| {
        let span = target.source.span(*record)?;
        items.binary_search_by_key(&span.start, |(at, _)| at.start).ok()
    };
    let mut rows: Vec<Row<'_>> = items.iter().map(|_| Row::default()).collect();
    for message in target.session.log() {
        for record in &message.records {
            if let Some(row) = number(record) {
                rows[row].members += 1;
                rows[row].record = Some(*record);
            }
        }
    }
    // A new message stands before the first row of the messages behind it.
    let mut added: Vec<(usize, &Entry)> = Vec::new();
    let mut next = rows.len();
    for entry in target.session.view().iter().rev() {
        match entry.key {
            EntryKey::Synthetic { .. } => added.push((next, entry)),
            EntryKey::Log(_) => {
                for row in entry.original.records.iter().filter_map(number) {
                    rows[row].shown += 1;
                    next = next.min(row);
                    if entry.is_edited() {
                        rows[row].edited.push(entry);
                    }
                }
            }
        }
    }
    let mut written = Vec::with_capacity(rows.len());
    let mut is_shown = true;
    let mut written_blocks = HashSet::new();
    for (at, row) in rows.iter().enumerate() {
        while let Some((_, entry)) = added.pop_if(|(place, _)| *place <= at) {
            written.extend(new_row(profile, entry)?);
        }
        let problem = |problem: &str| WriteError::Row { index: at, problem: problem.to_owned() };
        // A row without messages of the session goes with the one before it.
        if row.members > 0 {
            is_shown = row.shown > 0;
        }
        if row.shown > 0 && row.shown < row.members {
            return Err(problem("a part of it leaves, and it can only stay or leave whole"));
        }
        if is_shown {
            written.push(match &row.edited[..] {
                [] => RequestItem { json: items[at].1.to_owned(), record: row.record },
                edited => {
                    let json = match profile {
                        Wire::Gemini => changed_content(items[at].1, edited, &mut written_blocks),
                        _ => changed_row(items[at].1, edited, &mut written_blocks, dialect_of(profile)),
                    };
                    RequestItem::built(json.ok_or_else(|| problem("it is not JSON"))?)
                }
            });
        }
    }
    for (at, entry) in rows.iter().enumerate().flat_map(|(at, row)| row.edited.iter().map(move |entry| (at, entry))) {
        if changed_blocks(entry).any(|(block, ..)| !written_blocks.contains(&(entry.key, block))) {
            let problem = "a text that changed is not found in it".to_owned();
            return Err(WriteError::Row { index: at, problem });
        }
    }
    for (_, entry) in added.into_iter().rev() {
        written.extend(new_row(profile, entry)?);
    }
    Ok(written)
}

fn new_row(profile: Wire, entry: &Entry) -> Result<Vec<RequestItem>, WriteError> {
    let messages = write_messages(profile, &[(*entry.message).clone()]);
    let messages = messages.map_err(|error| WriteError::Added(error.to_string()))?;
    Ok(messages.into_iter().map(RequestItem::built).collect())
}

/// Returns the blocks of an entry that are not as they were read, with their numbers.
fn changed_blocks(entry: &Entry) -> impl Iterator<Item = (usize, &Block, &Block)> {
    let blocks = entry.original.blocks.iter().zip(&entry.message.blocks).enumerate();
    let changed = blocks.filter(|(_, (before, after))| before.content != after.content);
    changed.map(|(block, (before, after))| (block, before, after))
}

/// Returns a row's JSON with the texts of changed messages, and adds the blocks that it holds to `written`: a message of
/// several rows has its blocks in one or the other. `None` where the row is not JSON. Linear in the row for each changed
/// block.
fn changed_row(
    json: &str,
    edited: &[&Entry],
    written: &mut HashSet<(EntryKey, usize)>,
    dialect: Dialect,
) -> Option<String> {
    let kept = json::keep_halves(json);
    let mut row: Value = serde_json::from_str(kept.as_deref().unwrap_or(json)).ok()?;
    for entry in edited {
        for (block, before, after) in changed_blocks(entry) {
            let recorded_id = entry.original.recorded_call_id.as_deref();
            if !written.contains(&(entry.key, block)) && change(&mut row, before, after, recorded_id, dialect).is_some()
            {
                written.insert((entry.key, block));
            }
        }
    }
    let written = row.to_string();
    Some(if kept.is_some() { json::restore_halves(written) } else { written })
}

/// The same for one of Gemini's contents, whose parts have no types: a part that reads as a block did is written as it is
/// now, with the signature that it had.
fn changed_content(json: &str, edited: &[&Entry], written: &mut HashSet<(EntryKey, usize)>) -> Option<String> {
    let content = Object::parse(json)?;
    let parts = json::list(content.get("parts")?)?;
    let mut changed: Vec<Option<String>> = vec![None; parts.len()];
    for entry in edited {
        for (block, before, after) in changed_blocks(entry) {
            let reads_so = |(at, part): (usize, &&str)| {
                let id = entry.original.recorded_call_id.as_ref();
                let json = if changed[at].is_none() { changed_part(part, before, after, id) } else { None };
                json.map(|json| (at, json))
            };
            if written.contains(&(entry.key, block)) {
                continue;
            }
            if let Some((at, json)) = parts.iter().enumerate().find_map(reads_so) {
                changed[at] = Some(json);
                written.insert((entry.key, block));
            }
        }
    }
    let parts: Vec<String> = parts.iter().zip(changed).map(|(part, new)| new.unwrap_or((*part).to_owned())).collect();
    let mut writer = ObjectWriter::new();
    for (name, value) in content.fields() {
        writer = if name == "parts" { writer.raw(name, &json::join(&parts)) } else { writer.raw(name, value) };
    }
    Some(writer.finish())
}

/// Writes the change of a block into the row that holds it. `recorded_id` is the id that a result came with, where that is
/// not its call's.
fn change(row: &mut Value, before: &Block, after: &Block, recorded_id: Option<&str>, dialect: Dialect) -> Option<()> {
    match (&before.content, &after.content) {
        (Content::ToolResult(was), Content::ToolResult(is)) => {
            let id = recorded_id.unwrap_or(&was.call_id);
            let result = find(row, &|value| {
                let own = RESULT_IDS.iter().any(|name| is_id(&value[*name], id));
                let item = is_id(&value["call_id"], id) && value.get("output").is_some();
                // The results of functions, which came before tools, have a name and no id.
                let function = value["role"] == "function" && value["name"].as_str() == was.name.as_deref();
                let nameless = id.is_empty() && is_result(value);
                (own || item || function || nameless)
                    && content_of(value)
                        .is_some_and(|content| text_of(content) == *was.text || is_read_as(value, &was.text, dialect))
            })?;
            let name = if result.get("output").is_some() { "output" } else { "content" };
            set_text(&mut result[name], &is.text, !is.attachments.is_empty(), dialect)
        }
        (Content::ToolCall(was), Content::ToolCall(is)) => {
            // A call of a function, which came before tools, has no id, and others may have none.
            let is_own = |value: &Value| {
                let named = ["id", "call_id"].iter().any(|name| is_id(&value[*name], &was.id));
                let function = ["function", "function_call"].iter().any(|name| value[*name]["name"] == *was.name);
                named || (was.id.is_empty() && (function || value["name"] == *was.name))
            };
            let is_whole = |value: &Value| {
                arguments_of(value).is_some_and(|(function, name)| {
                    let (field, text) = (&function.map_or(value, |it| &value[it])[name], was.arguments.text());
                    match field {
                        Value::String(field) => json::without_halves(field) == **text,
                        field => serde_json::from_str::<Value>(text).is_ok_and(|arguments| arguments == *field),
                    }
                })
            };
            let call = find(row, &|value| is_own(value) && is_whole(value))?;
            sign_anew(call);
            let text = is.arguments.text();
            let (function, name) = arguments_of(call)?;
            let holder = if let Some(function) = function { &mut call[function] } else { call };
            holder[name] = match &holder[name] {
                Value::String(_) => Value::from(&**text),
                _ => serde_json::from_str(text).ok()?,
            };
            Some(())
        }
        (_, _) => {
            let (was, is) = (before.excerptable()?, after.excerptable()?);
            if let Some(holder) = find(row, &|value| text_field(value, was).is_some()) {
                let name = text_field(holder, was)?;
                holder[name] = Value::from(&**is);
                return Some(());
            }
            // The reasoning of OpenAI's Responses: one text of several parts.
            let holder = find(row, &|value| parts_field(value, was).is_some())?;
            let name = parts_field(holder, was)?;
            set_text(&mut holder[name], is, false, dialect)
        }
    }
}

/// Whether a field is an id that was read, and that is not empty.
fn is_id(field: &Value, id: &str) -> bool {
    !id.is_empty() && field.as_str() == Some(id)
}

/// Whether a value is the result of a call, whatever its id.
fn is_result(value: &Value) -> bool {
    value["role"] == "tool"
        || value["type"].as_str().is_some_and(|kind| kind == "tool_result" || kind.ends_with("_output"))
}

/// Returns the name of the field of a value that is this text.
fn text_field(value: &Value, text: &str) -> Option<&'static str> {
    const NAMES: [&str; 6] = ["content", "text", "refusal", "thinking", "reasoning_content", "reasoning"];
    let is_text = |field: &str| json::without_halves(field) == text;
    NAMES.into_iter().find(|name| value.get(*name).and_then(Value::as_str).is_some_and(is_text))
}

/// Returns the name of the field of a value that holds the parts of this text.
fn parts_field(value: &Value, text: &str) -> Option<&'static str> {
    let is_text = |parts: &Value| parts.is_array() && text_of(parts) == text;
    ["summary", "content"].into_iter().find(|name| value["type"] == "reasoning" && is_text(&value[*name]))
}

/// Returns the field of a call that holds its arguments, and the one around it.
fn arguments_of(call: &Value) -> Option<(Option<&'static str>, &'static str)> {
    let around = ["function", "function_call"].into_iter().find(|name| call[*name].get("arguments").is_some());
    if around.is_some() {
        return Some((around, "arguments"));
    }
    ["arguments", "input"].into_iter().find(|name| call.get(*name).is_some()).map(|name| (None, name))
}

fn content_of(result: &Value) -> Option<&Value> {
    result.get("output").or_else(|| result.get("content"))
}

/// Returns the text of a content as it is read: that of its parts, a line feed between two.
fn text_of(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => return String::new(),
    };
    json::without_halves(&text).into_owned()
}

/// Whether a result whose content has parts of other kinds too is read as this text.
fn is_read_as(result: &Value, text: &str, dialect: Dialect) -> bool {
    let blocks = match dialect {
        Dialect::Anthropic if result["type"] == "tool_result" => anthropic::blocks::blocks(&format!("[{result}]")),
        Dialect::OpenaiResponses => match openai_responses::blocks::item(&result.to_string()) {
            ResponsesItem::Message(message) => message.blocks,
            ResponsesItem::Model(_) | ResponsesItem::Answered(..) => Vec::new(),
        },
        _ => Vec::new(),
    };
    blocks.iter().filter_map(Block::as_result).any(|result| *result.text == *text)
}

/// Returns the first object in a value, itself included, for which `is_wanted` holds.
fn find<'v>(value: &'v mut Value, is_wanted: &dyn Fn(&Value) -> bool) -> Option<&'v mut Value> {
    if value.is_object() && is_wanted(value) {
        return Some(value);
    }
    match value {
        Value::Array(parts) => parts.iter_mut().find_map(|part| find(part, is_wanted)),
        Value::Object(fields) => fields.values_mut().find_map(|field| find(field, is_wanted)),
        _ => None,
    }
}
