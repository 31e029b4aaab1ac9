//! OpenAI Responses items, which Codex rollouts hold too.

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, CallId, Content, Dialect, Media, Message, Origin, Role, Thinking, ToolCall, ToolResult, is_media,
};
use epitome_wire::openai_responses::{class_of_item, is_run_by_provider};
use epitome_wire::{PartClass, tool};
use serde_json::{Map, Value};

use crate::blocks::{configuration, media_of_url, opaque, system_message, user_message, with_detail, with_raw};
use crate::json::{self, Object};
use crate::media::openai_part;

/// One item as the session sees it.
#[derive(Debug)]
pub(crate) enum ResponsesItem {
    /// Blocks of the model's current message: text, reasoning, calls.
    Model(Vec<Block>),
    /// A call in the model's current message that the provider ran itself, and its result.
    Answered(Block, Message),
    /// A message of its own: a user's, a developer's, a tool's.
    Message(Message),
}

/// Reads an item. A string is a user's text.
pub(crate) fn item(json: &str) -> ResponsesItem {
    if let Some(text) = json::string(json) {
        return ResponsesItem::Message(user_message(vec![Block::text(&*text)]));
    }
    let Some(object) = Object::parse(json) else {
        return ResponsesItem::Model(vec![opaque(json, Dialect::OpenaiResponses)]);
    };
    let kind = object.text("type").unwrap_or_default();
    match &*kind {
        "function_call" => return ResponsesItem::Model(vec![function_call(&object, json)]),
        "custom_tool_call" => return ResponsesItem::Model(vec![custom_call(&object, json)]),
        "message" => return message(&object, json),
        "" if !object.has("id") || !object.has_only(&["id", "type"]) => return message(&object, json),
        "agent_message" => return ResponsesItem::Message(agent_message(&object, json)),
        _ => {}
    }
    let whole = json::keep_halves(json);
    let fields: Map<String, Value> = serde_json::from_str(whole.as_deref().unwrap_or(json)).unwrap_or_default();
    match class_of_item(&fields) {
        PartClass::Reasoning => {
            ResponsesItem::Model(vec![with_raw(reasoning(&object), Dialect::OpenaiResponses, json)])
        }
        PartClass::Call => own_tool(&object, &fields, json, &kind),
        PartClass::Result => ResponsesItem::Message(output(&object, &fields, json, &kind)),
        PartClass::Configuration => {
            let kind = if kind.is_empty() { "item_reference" } else { &kind };
            ResponsesItem::Message(configuration(json, kind, Dialect::OpenaiResponses))
        }
        PartClass::Compaction => {
            let blocks = vec![opaque(json, Dialect::OpenaiResponses)];
            ResponsesItem::Message(Message::new("", Role::User, Origin::Summary, blocks))
        }
        PartClass::Speech | PartClass::Opaque => ResponsesItem::Model(vec![opaque(json, Dialect::OpenaiResponses)]),
    }
}

/// What another agent told the model: that agent's words, so no more to be trusted than a tool's.
fn agent_message(object: &Object<'_>, json: &str) -> Message {
    let text: Vec<String> = content(object.get("content").unwrap_or_default())
        .into_iter()
        .filter_map(|block| Some(block.excerptable()?.to_string()))
        .collect();
    let text = Content::Text { text: Arc::from(text.join("\n")) };
    let message =
        Message::new("", Role::User, Origin::ToolOutput, vec![with_raw(text, Dialect::OpenaiResponses, json)]);
    Message { name: object.text("author").map(|author| Arc::from(&*author)), ..message }
}

fn message(object: &Object<'_>, json: &str) -> ResponsesItem {
    let blocks = content(object.get("content").unwrap_or_default());
    match object.text("role").unwrap_or_default().as_ref() {
        "assistant" => {
            let plain = object.has_only(&["type", "role", "content"]);
            let mut blocks = blocks;
            match &mut blocks[..] {
                _ if plain => {}
                // An item of its own needs its own bytes: id and phase are the item's, not the blocks'.
                [Block { content: content @ Content::Text { .. }, .. }] => {
                    return ResponsesItem::Model(vec![with_raw(content.clone(), Dialect::OpenaiResponses, json)]);
                }
                // Of several, each may be one: under the id there is only the whole.
                blocks => {
                    let parts = json::list(object.get("content").unwrap_or_default()).unwrap_or_default();
                    for (block, part) in blocks.iter_mut().zip(parts) {
                        if matches!(block.content, Content::Text { .. }) && part.starts_with('{') {
                            let item = object.with(&[("id", None), ("content", Some(&format!("[{part}]")))]);
                            *block = with_raw(block.content.clone(), Dialect::OpenaiResponses, &item);
                        }
                    }
                }
            }
            ResponsesItem::Model(blocks)
        }
        role @ ("system" | "developer") => ResponsesItem::Message(system_message(role, blocks)),
        _ => ResponsesItem::Message(user_message(blocks)),
    }
}

/// The blocks of a message item's content: a string, or a list of parts.
fn content(json: &str) -> Vec<Block> {
    if let Some(text) = json::string(json) {
        return vec![Block::text(&*text)];
    }
    json::list(json).unwrap_or_default().into_iter().map(part).collect()
}

/// The kinds of part that a message, or an output, is made of: everything else is an item.
pub(crate) const PARTS: [&str; 8] =
    ["input_text", "output_text", "text", "summary_text", "refusal", "input_image", "input_file", "input_audio"];

fn part(json: &str) -> Block {
    if let Some(text) = json::string(json) {
        return Block::text(&*text);
    }
    let Some(object) = Object::parse(json) else { return opaque(json, Dialect::OpenaiResponses) };
    let read = match object.text("type").unwrap_or_default().as_ref() {
        "input_text" | "output_text" | "text" | "summary_text" => object
            .text("text")
            .map(|text| (Content::Text { text: Arc::from(&*text) }, object.has_only(&["type", "text"]))),
        "refusal" => object.text("refusal").map(|text| (Content::Text { text: Arc::from(&*text) }, false)),
        "input_image" if object.has("image_url") => object
            .text("image_url")
            .map(|url| with_detail(media_of_url(&url, ""), &object, "detail"))
            .map(|media| (Content::Media(media), object.has_only(&["type", "image_url"]))),
        kind if PARTS.contains(&kind) => openai_part(&object).map(|media| (Content::Media(media), false)),
        _ => None,
    };
    match read {
        Some((content, true)) => Block::new(content),
        Some((content, false)) => with_raw(content, Dialect::OpenaiResponses, json),
        None => opaque(json, Dialect::OpenaiResponses),
    }
}

fn reasoning(object: &Object<'_>) -> Content {
    let texts = |name: &str| -> Vec<String> {
        let parts = object.list(name).unwrap_or_default();
        parts.iter().filter_map(|part| Some(Object::parse(part)?.text("text")?.into_owned())).collect()
    };
    let mut readable = texts("summary");
    if readable.is_empty() {
        readable = texts("content");
    }
    Content::Thinking(Thinking {
        text: Arc::from(readable.join("\n")),
        signature: object.text("encrypted_content").map(|it| Arc::from(&*it)),
        redacted: false,
    })
}

fn function_call(object: &Object<'_>, json: &str) -> Block {
    let arguments = object.get("arguments").unwrap_or("\"{}\"");
    let arguments = match json::string(arguments) {
        Some(text) => crate::openai_chat::blocks::arguments(&text),
        None => Arguments::Json(Arc::from(arguments)),
    };
    call(object, json, arguments, &["type", "call_id", "name", "arguments"])
}

fn custom_call(object: &Object<'_>, json: &str) -> Block {
    let input = object.text("input").unwrap_or_default();
    // Kept whole: that it is a custom call is nowhere else.
    call(object, json, Arguments::Text(Arc::from(&*input)), &[])
}

/// A call of a provider's own tool, with its result where the provider runs it itself.
fn own_tool(object: &Object<'_>, fields: &Map<String, Value>, json: &str, kind: &str) -> ResponsesItem {
    let id = call_id(object);
    let name: Arc<str> = Arc::from(tool::name_of(fields, kind));
    let arguments = Arguments::Json(Arc::from(tool::arguments_of(fields).to_string()));
    let call = ToolCall { id: Arc::clone(&id), name: Arc::clone(&name), arguments };
    let call = with_raw(Content::ToolCall(call), Dialect::OpenaiResponses, json);
    // A search for tools has an item of its own for what it found, also where the provider runs it.
    let is_answered_apart = fields.get("execution").is_some_and(|place| place == "server");
    if is_answered_apart || !is_run_by_provider(fields) {
        return ResponsesItem::Model(vec![call]);
    }
    let outcome = tool::Outcome::read(fields, is_media);
    let result = ToolResult {
        call_id: id,
        name: Some(name),
        text: Arc::from(outcome.texts.join("\n")),
        attachments: outcome.media.into_iter().map(Media::of_text).collect(),
        is_error: fields.get("error").is_some_and(|error| !error.is_null())
            || fields.get("status").is_some_and(|status| status == "failed"),
    };
    let mut message = Message::new("", Role::Tool, Origin::Tool, Vec::new());
    message.blocks.push(with_raw(Content::ToolResult(result), Dialect::OpenaiResponses, json));
    ResponsesItem::Answered(call, message)
}

fn call(object: &Object<'_>, json: &str, arguments: Arguments, known: &[&str]) -> Block {
    // A server's tool has the server's name in front, wherever its call goes.
    let (space, own) = (object.text("namespace").unwrap_or_default(), object.text("name").unwrap_or_default());
    let between = if space.is_empty() || space.ends_with(['_', '.', '/']) { "" } else { "__" };
    let name = Arc::from(format!("{space}{between}{own}"));
    // Bytes that no provider would take are not kept.
    let in_string = object.get("arguments").is_some_and(|json| json.starts_with('"'));
    let damaged = !known.is_empty() && (!in_string || matches!(arguments, Arguments::Text(_)));
    let call = ToolCall { id: call_id(object), name, arguments };
    if damaged || object.has_only(known) {
        Block::new(Content::ToolCall(call))
    } else {
        with_raw(Content::ToolCall(call), Dialect::OpenaiResponses, json)
    }
}

fn call_id(object: &Object<'_>) -> CallId {
    let has_own = object.get("call_id").is_some_and(|id| id != "\"\"");
    object.id(if has_own || !object.has("id") { "call_id" } else { "id" })
}

fn output(object: &Object<'_>, fields: &Map<String, Value>, json: &str, kind: &str) -> Message {
    let mut plain = kind == "function_call_output" && object.has_only(&["type", "call_id", "output"]);
    let mut attachments = Vec::new();
    let output = object.get("output").unwrap_or_default();
    let text = if let Some(text) = json::string(output) {
        text.into_owned()
    } else if kind == "tool_search_output" {
        object.get("tools").unwrap_or_default().to_owned()
    } else {
        plain = plain && output.is_empty();
        let parts = json::list(output).filter(|parts| parts.iter().all(|part| is_part(part)));
        match parts {
            Some(parts) => {
                let read = parts.into_iter().map(|json| part(json).content);
                let mut texts: Vec<String> = Vec::new();
                for content in read {
                    match content {
                        Content::Text { text } => texts.push(text.to_string()),
                        Content::Media(media) => attachments.push(media),
                        _ => {}
                    }
                }
                texts.join("\n")
            }
            None => {
                let outcome = tool::Outcome::read(fields, is_media);
                attachments.extend(outcome.media.into_iter().map(Media::of_text));
                outcome.texts.join("\n")
            }
        }
    };
    let text = Arc::from(text);
    let result = ToolResult { call_id: call_id(object), name: None, text, attachments, is_error: false };
    let mut message = Message::result("", result);
    // What it loads has to stay loaded.
    message.pinned = fields.get("tools").is_some_and(Value::is_array);
    if !plain && let Some(block) = message.blocks.first_mut() {
        *block = with_raw(block.content.clone(), Dialect::OpenaiResponses, json);
    }
    message
}

/// Whether a value is a part that a message, or an output, is made of.
fn is_part(json: &str) -> bool {
    Object::parse(json).and_then(|part| part.text("type").map(|kind| PARTS.contains(&&*kind))).unwrap_or(false)
}
