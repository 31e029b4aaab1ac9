//! Gemini contents.

use std::sync::Arc;

use epitome_session::{Block, CallId, Content, Dialect, Media, MediaSource, RawBlock, Role, ToolCall, ToolResult};

use super::blocks::{blocks, signature};
use crate::json::{self, Object, ObjectWriter, quote};
use crate::openai_chat::write::{MISSING, arguments_object, image_type};
use crate::render::changed::OF_ANOTHER_MODEL;
use crate::render::plan::{MessageToRender, Plan};
use crate::render::{RequestItem, RequestParts, Source, Wire};

pub(crate) fn render(plan: Plan<'_>, source: Option<&Source<'_>>) -> RequestParts {
    let mut parts = RequestParts { warnings: plan.warnings, ..RequestParts::default() };
    let (system, conversation): (Vec<MessageToRender<'_>>, Vec<MessageToRender<'_>>) =
        plan.turns.into_iter().partition(|turn| turn.is_prompt);
    parts.system = system_prompt(&system);
    let merges = source.is_some_and(|source| source.merges_neighbours(Wire::Gemini));
    for group in conversation.chunk_by(|left, right| is_one_content(left, right, merges)) {
        match recorded(group, source) {
            Some(item) => parts.items.push(item),
            None => parts.items.extend(contents(group).into_iter().map(RequestItem::built)),
        }
    }
    parts
}

/// Whose content a message is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Model,
    /// Functions' responses, which follow their calls in one content of their own.
    Functions,
    User,
}

impl Side {
    fn from_turn(turn: &MessageToRender<'_>) -> Self {
        match turn.message.role {
            Role::Assistant => Self::Model,
            Role::Tool if turn.is_beside_call => Self::Model,
            Role::Tool => Self::Functions,
            Role::User | Role::System => Self::User,
        }
    }

    fn role(self) -> &'static str {
        if self == Self::Model { "model" } else { "user" }
    }
}

/// Whether two neighbours are written as one content: parts of one record, results of one step, and what the model says in
/// a row, because a content with calls may only follow the user's side; what stands on the user's side in a row, where the
/// contents that came take turns.
fn is_one_content(left: &MessageToRender<'_>, right: &MessageToRender<'_>, merges_users: bool) -> bool {
    let record = |turn: &MessageToRender<'_>| turn.entry.and_then(|entry| entry.message.records.first().copied());
    let is_one_record = record(left).is_some() && record(left) == record(right);
    let side = Side::from_turn(left);
    // What came in a row stays in a row.
    let came =
        |turn: &MessageToRender<'_>| turn.entry.is_some_and(|entry| !entry.is_edited()) && record(turn).is_some();
    let merges_users = merges_users && !(came(left) && came(right));
    is_one_record || (side == Side::from_turn(right) && (side != Side::User || merges_users))
}

fn system_prompt(turns: &[MessageToRender<'_>]) -> Option<String> {
    let parts: Vec<String> = turns.iter().flat_map(|turn| &turn.message.blocks).filter_map(other_part).collect();
    (!parts.is_empty()).then(|| ObjectWriter::new().raw("parts", &json::join(&parts)).finish())
}

/// The bytes of a group that is one record and all of it.
fn recorded(group: &[MessageToRender<'_>], source: Option<&Source<'_>>) -> Option<RequestItem> {
    let source = source?;
    let [record] = group.first()?.entry?.message.records[..] else { return None };
    let is_whole = source.members(record) as usize == group.len()
        && group.iter().all(|turn| turn.is_as_read && turn.entry.is_some_and(|it| it.message.records == [record]));
    let json = source.record(record).filter(|json| is_whole && json.starts_with('{'))?;
    Some(RequestItem { json: json.to_owned(), record: Some(record) })
}

/// The contents of a group: the results first, because they follow their calls.
fn contents(group: &[MessageToRender<'_>]) -> Vec<String> {
    [Side::Model, Side::Functions, Side::User]
        .into_iter()
        .filter_map(|side| {
            let turns = group.iter().filter(|turn| Side::from_turn(turn) == side);
            let parts: Vec<String> = turns.flat_map(parts).collect();
            let content = ObjectWriter::new().text("role", side.role()).raw("parts", &json::join(&parts)).finish();
            (!parts.is_empty()).then_some(content)
        })
        .collect()
}

fn parts(turn: &MessageToRender<'_>) -> Vec<String> {
    let mut calls = 0;
    let part = |block: &Block| {
        let number = calls;
        calls += usize::from(block.as_call().is_some());
        match (own_raw(block), &block.content) {
            (Some(raw), _) => Some(raw.json.to_string()),
            (None, Content::ToolCall(call)) => Some(call_part(call, new_signature(turn, number))),
            (None, Content::ToolResult(result)) => {
                let id = turn.message.recorded_call_id.as_ref().unwrap_or(&result.call_id);
                Some(response_part(result, id, turn.tool.as_deref()))
            }
            (None, _) => other_part(block),
        }
    };
    turn.message.blocks.iter().filter_map(part).collect()
}

fn own_raw(block: &Block) -> Option<&RawBlock> {
    block.raw.as_ref().filter(|raw| raw.dialect == Dialect::Gemini)
}

/// The signature of a call that is not written as it was recorded: the mark of a call that its model did not make so, where it
/// was signed, and with the first call of a message that was not Gemini's.
fn new_signature(turn: &MessageToRender<'_>, number: usize) -> Option<&'static str> {
    let original = turn.entry.and_then(|entry| {
        let mut calls = entry.original.blocks.iter().filter(|block| block.as_call().is_some());
        calls.nth(number).and_then(own_raw)
    });
    let is_signed = match original.and_then(|raw| Object::parse(&raw.json)) {
        Some(part) => signature(&part).is_some(),
        None => number == 0 && !turn.is_as_read,
    };
    is_signed.then_some(OF_ANOTHER_MODEL)
}

fn call_part(call: &ToolCall, signature: Option<&str>) -> String {
    let function = ObjectWriter::new()
        .optional_id("id", &call.id)
        .text("name", &call.name)
        .raw("args", &arguments_object(&call.arguments))
        .finish();
    ObjectWriter::new()
        .raw("functionCall", &function)
        .optional_field("thoughtSignature", signature.map(quote).as_deref())
        .finish()
}

/// A response with the id `id`, where that is not empty, and the name of the `tool` that was called, where it is known.
fn response_part(result: &ToolResult, id: &str, tool: Option<&str>) -> String {
    let name = tool.or(result.name.as_deref()).unwrap_or_default();
    let output = if result.is_error { "error" } else { "output" };
    let response = ObjectWriter::new().text(output, &result.text).finish();
    let attachments: Vec<String> = result.attachments.iter().map(media_part).collect();
    let attachments = (!attachments.is_empty()).then(|| json::join(&attachments));
    let function = ObjectWriter::new()
        .optional_id("id", id)
        .text("name", name)
        .raw("response", &response)
        .optional_field("parts", attachments.as_deref())
        .finish();
    ObjectWriter::new().raw("functionResponse", &function).finish()
}

/// A part that reads as the block `before`, with the content of the block `after`; a text keeps its signature, and a response the
/// id that it came with, `recorded_id` where that is not its call's. `None` where it reads otherwise.
pub(crate) fn changed_part(part: &str, before: &Block, after: &Block, recorded_id: Option<&CallId>) -> Option<String> {
    let [read] = &mut blocks(part)[..] else { return None };
    if let (Content::ToolResult(read), Content::ToolResult(before), Some(id)) =
        (&mut read.content, &before.content, recorded_id)
        && read.call_id == *id
    {
        read.call_id = Arc::clone(&before.call_id);
    }
    if read.content != before.content {
        return None;
    }
    let signature = Object::parse(part).as_ref().and_then(signature).map(std::borrow::Cow::into_owned);
    match &after.content {
        Content::ToolCall(call) => Some(call_part(call, signature.map(|_| OF_ANOTHER_MODEL))),
        Content::ToolResult(result) => Some(response_part(result, recorded_id.unwrap_or(&result.call_id), None)),
        Content::Text { text } => {
            let signature = signature.as_deref().map(quote);
            let writer = ObjectWriter::new().text("text", text);
            Some(writer.optional_field("thoughtSignature", signature.as_deref()).finish())
        }
        Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => other_part(after),
    }
}

/// A part that is neither a call nor a response.
fn other_part(block: &Block) -> Option<String> {
    if let Some(raw) = own_raw(block) {
        return Some(raw.json.to_string());
    }
    match &block.content {
        Content::Text { text } => Some(text_part(text)),
        Content::Thinking(thinking) => Some(
            ObjectWriter::new()
                .text("text", &thinking.text)
                .raw("thought", "true")
                .optional_field("thoughtSignature", thinking.signature.as_deref().map(quote).as_deref())
                .finish(),
        ),
        Content::Media(media) => Some(media_part(media)),
        Content::Opaque(opaque) => (opaque.dialect == Dialect::Gemini).then(|| opaque.json.to_string()),
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Gone => None,
    }
}

fn text_part(text: &str) -> String {
    ObjectWriter::new().text("text", text).finish()
}

fn media_part(media: &Media) -> String {
    let (name, data) = match &media.source {
        MediaSource::Base64(data) => {
            let data = ObjectWriter::new().text("mimeType", image_type(media)).text("data", data).finish();
            ("inlineData", data)
        }
        MediaSource::Url(url) => {
            let mime = (!media.mime.is_empty()).then(|| quote(&media.mime));
            ("fileData", ObjectWriter::new().optional_field("mimeType", mime.as_deref()).text("fileUri", url).finish())
        }
        MediaSource::Missing => return text_part(MISSING),
    };
    ObjectWriter::new().raw(name, &data).finish()
}
