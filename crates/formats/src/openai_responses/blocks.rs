//! OpenAI Responses items, which Codex rollouts hold too.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_session::{
    Arguments, Block, CallId, Content, Dialect, Message, Origin, Role, Thinking, ToolCall, ToolResult,
};

use crate::blocks::{media_of_url, opaque, system_message, user_message, with_raw};
use crate::json::{self, Object};
use crate::media::openai_part;

/// One item as the session sees it.
#[derive(Debug)]
pub(crate) enum ResponsesItem {
    /// Blocks of the model's current message: text, reasoning, calls.
    Model(Vec<Block>),
    /// A message of its own: a user's, a developer's, a tool's.
    Message(Message),
}

/// The call id that an item answers, if it is an output.
pub(crate) fn answers(item: &Object<'_>) -> Option<String> {
    let kind = item.text("type")?;
    (kind.ends_with("_output")).then(|| call_id(item).to_string())
}

/// Reads an item. A string is a user's text. Calls of the provider's own tools are calls where `answered` holds their id,
/// and otherwise, having no result that could be theirs, kept byte for byte.
pub(crate) fn item(json: &str, answered: &HashSet<String>) -> ResponsesItem {
    if let Some(text) = json::string(json) {
        return ResponsesItem::Message(user_message(vec![Block::text(&*text)]));
    }
    let Some(object) = Object::parse(json) else {
        return ResponsesItem::Model(vec![opaque(json, Dialect::OpenaiResponses)]);
    };
    let kind = object.text("type").unwrap_or_default();
    match &*kind {
        "message" | "" => message(&object, json),
        "reasoning" => ResponsesItem::Model(vec![with_raw(reasoning(&object), Dialect::OpenaiResponses, json)]),
        "function_call" => ResponsesItem::Model(vec![function_call(&object, json)]),
        "custom_tool_call" => ResponsesItem::Model(vec![custom_call(&object, json)]),
        "tool_search_call" | "local_shell_call" if answered.contains(&*call_id(&object)) => {
            ResponsesItem::Model(vec![own_tool(&object, json, kind.trim_end_matches("_call"))])
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" | "local_shell_call_output" => {
            ResponsesItem::Message(output(&object, json, &kind))
        }
        "compaction" | "context_compaction" => {
            let blocks = vec![opaque(json, Dialect::OpenaiResponses)];
            ResponsesItem::Message(Message::new("", Role::User, Origin::Summary, blocks))
        }
        _ => ResponsesItem::Model(vec![opaque(json, Dialect::OpenaiResponses)]),
    }
}

fn message(object: &Object<'_>, json: &str) -> ResponsesItem {
    let blocks = content(object.get("content").unwrap_or_default());
    match object.text("role").unwrap_or_default().as_ref() {
        "assistant" => {
            // An item of its own needs its own bytes: id and phase are the item's, not the blocks'.
            let plain = object.has_only(&["type", "role", "content"]);
            let single = blocks.len() == 1 && blocks[0].raw.is_none();
            match blocks.into_iter().next() {
                Some(block) if single && !plain => {
                    ResponsesItem::Model(vec![with_raw(block.content, Dialect::OpenaiResponses, json)])
                }
                Some(block) if single => ResponsesItem::Model(vec![block]),
                _ => ResponsesItem::Model(content(object.get("content").unwrap_or_default())),
            }
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
            .map(|url| (Content::Media(media_of_url(&url, "")), object.has_only(&["type", "image_url"]))),
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

fn own_tool(object: &Object<'_>, json: &str, name: &str) -> Block {
    let arguments = object.get("arguments").or_else(|| object.get("action")).unwrap_or("{}");
    let arguments = Arguments::Json(Arc::from(arguments));
    let call = ToolCall { id: call_id(object), name: Arc::from(name), arguments };
    with_raw(Content::ToolCall(call), Dialect::OpenaiResponses, json)
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
    object.id(if object.text("call_id").is_some() { "call_id" } else { "id" })
}

fn output(object: &Object<'_>, json: &str, kind: &str) -> Message {
    let output = object.get("output").or_else(|| object.get("tools")).unwrap_or_default();
    let mut plain = kind == "function_call_output" && object.has_only(&["type", "call_id", "output"]);
    let mut attachments = Vec::new();
    let text = if let Some(text) = json::string(output) {
        text.into_owned()
    } else if kind == "tool_search_output" {
        output.to_owned()
    } else if let Some(parts) = json::list(output) {
        plain = false;
        let mut texts: Vec<String> = Vec::with_capacity(parts.len());
        for json in parts {
            match part(json).content {
                Content::Text { text } => texts.push(text.to_string()),
                Content::Media(media) => attachments.push(media),
                _ => texts.push(json.to_owned()),
            }
        }
        texts.join("\n")
    } else {
        plain = plain && output.is_empty();
        output.to_owned()
    };
    let text = Arc::from(text);
    let result = ToolResult { call_id: call_id(object), name: None, text, attachments, is_error: false };
    let mut message = Message::result("", result);
    if !plain && let Some(block) = message.blocks.first_mut() {
        *block = with_raw(block.content.clone(), Dialect::OpenaiResponses, json);
    }
    message
}
