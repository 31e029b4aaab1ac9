//! Gemini's parts.
//!
//! A part has no type: the field that is there shows it. Google takes each field in camel case and in snake case. Calls and
//! responses may have no id, each for itself: google-genai makes responses without one beside calls that have one.

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Dialect, Media, MediaSource, Message, OpaqueBlock, Origin, Role, Thinking, ToolCall,
    ToolResult, is_media,
};

use epitome_wire::tool;
use serde_json::{Map, Value};

use crate::blocks::{model_messages, user_messages, with_raw};
use crate::json::{self, Object};

/// The fields of a response that hold its text, where it has one of them and nothing else.
const OUTPUTS: [&str; 4] = ["output", "result", "content", "error"];

/// The session's messages of one content: one for each function's response, and for the rest, if there is any, one for each
/// text of an earlier compaction and for what stands between these. These messages have no ids yet.
pub(crate) fn messages(role: &str, parts: &str) -> Vec<Message> {
    let blocks = blocks(parts);
    match role {
        "model" => model_messages(blocks),
        "system" => vec![Message::new("", Role::System, Origin::Instructions, blocks)],
        _ => user_messages(blocks),
    }
}

/// The blocks of a content's parts: a list, one part, or a text as some clients have it.
pub(crate) fn blocks(parts: &str) -> Vec<Block> {
    match json::list(parts) {
        Some(items) => items.into_iter().map(block).collect(),
        None if parts.is_empty() || parts == "null" => Vec::new(),
        None => vec![block(parts)],
    }
}

/// The value of a field in either spelling.
pub(crate) fn field<'a>(object: &Object<'a>, camel: &str, snake: &str) -> Option<&'a str> {
    object.get(camel).or_else(|| object.get(snake)).filter(|json| *json != "null")
}

fn block(json: &str) -> Block {
    if let Some(text) = json::string(json) {
        return Block::text(&*text);
    }
    let Some(object) = Object::parse(json) else { return opaque(json, "") };
    let read = text(&object)
        .or_else(|| call(&object))
        .or_else(|| response(&object))
        .or_else(|| own_call(&object))
        .or_else(|| own_result(&object))
        .or_else(|| media(&object).map(|media| (Content::Media(media), object.fields().count() == 1)));
    match read {
        Some((content, true)) => Block::new(content),
        Some((content, false)) => with_raw(content, Dialect::Gemini, json),
        None => opaque(json, object.fields().map(|(name, _)| name).next().unwrap_or_default()),
    }
}

fn opaque(json: &str, kind: &str) -> Block {
    let (kind, json) = (Arc::from(kind), Arc::from(json));
    Block::new(Content::Opaque(OpaqueBlock { kind, json, dialect: Dialect::Gemini }))
}

/// The content of a part, and whether the part holds nothing else.
type ParsedPart = (Content, bool);

fn text(object: &Object<'_>) -> Option<ParsedPart> {
    let text = Arc::from(&*object.text("text")?);
    if !object.is_true("thought") {
        return Some((Content::Text { text }, object.has_only(&["text"])));
    }
    let signature = signature(object).map(|signature| Arc::from(&*signature));
    let is_plain = object.has_only(&["text", "thought", "thoughtSignature"]);
    Some((Content::Thinking(Thinking { text, signature, redacted: false }), is_plain))
}

/// The signature of the reasoning that led to a part.
pub(crate) fn signature<'a>(part: &Object<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let signature = part.text("thoughtSignature").or_else(|| part.text("thought_signature"))?;
    (!signature.is_empty()).then_some(signature)
}

fn call(object: &Object<'_>) -> Option<ParsedPart> {
    let call = Object::parse(field(object, "functionCall", "function_call")?)?;
    let name: Arc<str> = Arc::from(&*call.text("name")?);
    let id = call.id("id");
    let arguments = Arguments::Json(Arc::from(call.get("args").filter(|args| args.starts_with('{')).unwrap_or("{}")));
    let is_plain = object.has_only(&["functionCall"])
        && call.has_only(&["id", "name", "args"])
        && call.get("args").is_some_and(|args| args.starts_with('{'));
    Some((Content::ToolCall(ToolCall { id, name, arguments }), is_plain))
}

fn response(object: &Object<'_>) -> Option<ParsedPart> {
    let response = Object::parse(field(object, "functionResponse", "function_response")?)?;
    let name: Arc<str> = Arc::from(&*response.text("name").unwrap_or_default());
    let content = response.get("response").unwrap_or("{}");
    let fields = Object::parse(content).unwrap_or_default();
    let only = (fields.fields().count() == 1)
        .then(|| OUTPUTS.into_iter().find_map(|name| Some((name, fields.text(name)?))))
        .flatten();
    let parts = json::list(response.get("parts").unwrap_or_default()).unwrap_or_default();
    let is_plain = object.has_only(&["functionResponse"])
        && response.has_only(&["id", "name", "response"])
        && only.as_ref().is_some_and(|(name, _)| matches!(*name, "output" | "error"));
    let result = ToolResult {
        call_id: response.id("id"),
        is_error: fields.get("error").is_some_and(|error| !matches!(error, "null" | "false" | "\"\"")),
        text: only.map_or_else(|| Arc::from(content), |(_, text)| Arc::from(&*text)),
        attachments: parts.into_iter().filter_map(Object::parse).filter_map(|part| media(&part)).collect(),
        name: Some(name),
    };
    Some((Content::ToolResult(result), is_plain))
}

/// A call of a tool that Google runs: its own code, or another of its tools.
fn own_call(object: &Object<'_>) -> Option<ParsedPart> {
    let (name, json) = match field(object, "executableCode", "executable_code") {
        Some(json) => ("code_execution".to_owned(), json),
        None => {
            let json = field(object, "toolCall", "tool_call")?;
            (Object::parse(json)?.text("toolType").unwrap_or("tool".into()).into_owned(), json)
        }
    };
    let id = Object::parse(json)?.id("id");
    let arguments = Arguments::Json(Arc::from(json));
    Some((Content::ToolCall(ToolCall { id, name: Arc::from(name), arguments }), false))
}

/// The result of such a call.
fn own_result(object: &Object<'_>) -> Option<ParsedPart> {
    let json = field(object, "codeExecutionResult", "code_execution_result")
        .or_else(|| field(object, "toolResponse", "tool_response"))?;
    let fields: Map<String, Value> = serde_json::from_str(json).ok()?;
    let mut outcome = tool::Outcome::new(is_media);
    fields.iter().for_each(|(name, value)| outcome.add(name, value));
    let failed = fields.get("outcome").and_then(Value::as_str).is_some_and(|outcome| outcome != "OUTCOME_OK");
    let result = ToolResult {
        call_id: Object::parse(json)?.id("id"),
        name: None,
        text: Arc::from(outcome.texts.join("\n")),
        attachments: outcome.media.into_iter().map(Media::of_text).collect(),
        is_error: failed,
    };
    Some((Content::ToolResult(result), false))
}

fn media(object: &Object<'_>) -> Option<Media> {
    let (part, data, is_inline) = match field(object, "inlineData", "inline_data") {
        Some(part) => (part, "data", true),
        None => (field(object, "fileData", "file_data")?, "fileUri", false),
    };
    let part = Object::parse(part)?;
    let mime = part.text("mimeType").or_else(|| part.text("mime_type")).unwrap_or_default();
    let value = part.text(data).or_else(|| part.text("file_uri"))?;
    let source = if is_inline { MediaSource::Base64(Arc::from(&*value)) } else { MediaSource::Url(Arc::from(&*value)) };
    let name = part.text("displayName").or_else(|| part.text("display_name")).map(|name| Arc::from(&*name));
    // Of the part, or of what it holds.
    let level = object.get("mediaResolution").or_else(|| object.get("media_resolution")).and_then(Object::parse);
    let detail = level.and_then(|level| level.text("level")).map(|level| Arc::from(&*level));
    Some(Media { mime: Arc::from(&*mime), name, detail, source })
}
