//! OpenAI chat messages.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::heading::joined_parts;
use epitome_session::{
    Arguments, Block, CallId, Content, Dialect, Message, Origin, Role, TextCall, Thinking, ToolCall, ToolResult,
};
use serde_json::value::RawValue;

use crate::blocks::{answer, media_of_url, opaque, system_message, user_messages, with_detail, with_raw};
use crate::json::{self, Object, ObjectWriter};
use crate::media::{is_image, openai_part, said_sound};

/// The arguments that a text holds: JSON where it is an object or a list, free text otherwise.
pub(crate) fn arguments(text: &str) -> Arguments {
    let is_json = text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<&RawValue>(text).is_ok();
    if is_json { Arguments::Json(Arc::from(text)) } else { Arguments::Text(Arc::from(text)) }
}

/// Reads one chat message, which is one of the session's, or several: what a compaction put into it is one of its own. They
/// have no ids yet.
pub(crate) fn messages(object: &Object<'_>) -> Vec<Message> {
    let content = object.get("content").unwrap_or_default();
    let role = object.text("role").unwrap_or_default();
    // Ollama's name for the tool that a result is of.
    let of_tool = || object.text("tool_name").filter(|_| role == "tool");
    let name = object.text("name").or_else(of_tool).map(|name| Arc::from(&*name));
    let mut message = match &*role {
        "assistant" => assistant(object, content),
        "system" | "developer" => system_message(&role, blocks(content)),
        "tool" => result(content, object.id("tool_call_id")),
        // The results of functions, which came before tools, have a name and no id.
        "function" => result(content, Arc::from("")),
        _ => return user(content, name.as_ref()),
    };
    match message.blocks.first_mut().map(|block| &mut block.content) {
        Some(Content::ToolResult(result)) => result.name = name,
        _ => message.name = name,
    }
    vec![message]
}

fn user(content: &str, name: Option<&Arc<str>>) -> Vec<Message> {
    let parts = match json::string(content) {
        Some(text) => joined_parts(&text).map(|part| Block::text(part.text)).collect(),
        None => blocks(content),
    };
    let mut messages = user_messages(parts);
    if let [message] = &mut messages[..]
        && let [Block { content: Content::Text { text }, .. }] = &message.blocks[..]
        && ["<tool_response>", "Observation:", "EXECUTION RESULT of"].iter().any(|start| text.starts_with(start))
    {
        message.origin = Origin::ToolOutput;
    }
    for message in messages.iter_mut().filter(|message| !matches!(message.origin, Origin::Summary | Origin::Notice)) {
        message.name = name.cloned();
    }
    messages
}

fn assistant(object: &Object<'_>, content: &str) -> Message {
    let mut all = Vec::new();
    let reasoning = REASONING.iter().find_map(|name| object.text(name));
    if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
        all.push(Block::new(Content::Thinking(Thinking { text: Arc::from(&*text), signature: None, redacted: false })));
    }
    // An assistant's empty text is how a message of calls alone is written.
    all.extend(blocks(content).into_iter().filter(|block| !is_empty_text(block)).map(with_reasoning));
    if let Some(text) = object.text("refusal").filter(|text| !text.is_empty()) {
        all.push(refusal(&text));
    }
    if let Some((json, media)) = object.get("audio").and_then(|json| Some((json, said_sound(&Object::parse(json)?)?))) {
        let json = ObjectWriter::new().raw(SOUND, json).finish();
        all.push(with_raw(Content::Media(media), Dialect::OpenaiChat, &json));
    }
    match object.list("tool_calls") {
        Some(calls) => all.extend(calls.into_iter().map(call)),
        None => all.extend(object.text("tool_calls").as_deref().and_then(call_in_text)),
    }
    if let Some(function) = object.object("function_call") {
        let (name, arguments) = function_of(&function);
        all.push(Block::new(Content::ToolCall(ToolCall { id: Arc::from(""), name, arguments })));
    }
    let text_calls = text_calls(&all);
    Message { text_calls, ..Message::new("", Role::Assistant, Origin::Model, all) }
}

/// The fields of a message with the model's reasoning: DeepSeek's and most others', OpenRouter's, Ollama's.
pub(crate) const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// The field of a message with the sound that the model made. Its block is recorded as an object of this field alone, for
/// there is no part for it.
const SOUND: &str = "audio";

/// The sound of a message, as the field that it is, where a block is one.
pub(crate) fn sound_field(block: &Block) -> Option<(&'static str, &str)> {
    let raw = block.raw.as_ref().filter(|raw| raw.dialect == Dialect::OpenaiChat)?;
    let object = Object::parse(&raw.json).filter(|object| object.has_only(&[SOUND]))?;
    Some((SOUND, object.get(SOUND)?))
}

/// What the model said as its refusal: a part of its own, where a message has parts.
fn refusal(text: &str) -> Block {
    let json = ObjectWriter::new().text("type", "refusal").text("refusal", text).finish();
    with_raw(Content::Text { text: Arc::from(text) }, Dialect::OpenaiChat, &json)
}

/// A block of the model's, which is reasoning where it is a chunk of Mistral's for that.
fn with_reasoning(block: Block) -> Block {
    let Content::Opaque(chunk) = &block.content else { return block };
    let Some(object) = Object::parse(&chunk.json).filter(|_| &*chunk.kind == "thinking") else { return block };
    let parts = object.get("thinking").map(blocks).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(Block::excerptable).map(AsRef::as_ref).collect();
    let thinking = Thinking { text: Arc::from(texts.join("\n")), signature: None, redacted: false };
    with_raw(Content::Thinking(thinking), Dialect::OpenaiChat, &chunk.json)
}

fn is_empty_text(block: &Block) -> bool {
    matches!(&block.content, Content::Text { text } if text.is_empty()) && block.raw.is_none()
}

fn result(content: &str, call_id: CallId) -> Message {
    let parts = blocks(content);
    // A file, a sound or a film of a tool's has no other place in this form than the one in which it came.
    let has_file = |part: &Block| matches!(&part.content, Content::Media(media) if !is_image(media));
    let is_known = |part: &Block| !matches!(part.content, Content::Opaque(_));
    let stays = parts.iter().any(has_file) && parts.iter().all(is_known);
    let (text, attachments) = answer(parts);
    let mut message = Message::result("", ToolResult { call_id, name: None, text, attachments, is_error: false });
    if stays {
        message.blocks =
            message.blocks.into_iter().map(|it| with_raw(it.content, Dialect::OpenaiChat, content)).collect();
    }
    message
}

/// The blocks of a message's content: a string, or a list of parts.
pub(crate) fn blocks(content: &str) -> Vec<Block> {
    if let Some(text) = json::string(content) {
        return vec![Block::text(&*text)];
    }
    match json::list(content) {
        Some(items) => items.into_iter().map(part).collect(),
        None if content.is_empty() => Vec::new(),
        None => vec![Block::text(content)],
    }
}

pub(crate) fn part(json: &str) -> Block {
    if let Some(text) = json::string(json) {
        return Block::text(&*text);
    }
    let Some(object) = Object::parse(json) else { return opaque(json, Dialect::OpenaiChat) };
    let read = match object.text("type").unwrap_or_default().as_ref() {
        "text" => object
            .text("text")
            .map(|text| (Content::Text { text: Arc::from(&*text) }, object.has_only(&["type", "text"]))),
        "image_url" => match object.text("image_url") {
            // Some clients, and services beside OpenAI, write the address alone. It goes back as it came.
            Some(url) => Some((Content::Media(media_of_url(&url, "")), false)),
            None => object.object("image_url").and_then(|image| {
                let plain = object.has_only(&["type", "image_url"]) && image.has_only(&["url"]);
                let media = with_detail(media_of_url(&image.text("url")?, ""), &image, "detail");
                Some((Content::Media(media), plain))
            }),
        },
        "refusal" => object.text("refusal").map(|text| (Content::Text { text: Arc::from(&*text) }, false)),
        _ => openai_part(&object).map(|media| (Content::Media(media), false)),
    };
    match read {
        Some((content, true)) => Block::new(content),
        Some((content, false)) => with_raw(content, Dialect::OpenaiChat, json),
        None => opaque(json, Dialect::OpenaiChat),
    }
}

fn call(json: &str) -> Block {
    let Some(object) = Object::parse(json) else { return opaque(json, Dialect::OpenaiChat) };
    let id = object.id("id");
    if let Some(custom) = object.object("custom") {
        let name = Arc::from(&*custom.text("name").unwrap_or_default());
        let arguments = Arguments::Text(Arc::from(&*custom.text("input").unwrap_or_default()));
        return with_raw(Content::ToolCall(ToolCall { id, name, arguments }), Dialect::OpenaiChat, json);
    }
    let function = object.object("function").unwrap_or_else(|| object.clone());
    let (name, arguments) = function_of(&function);
    // Ollama and Mistral take an object where OpenAI takes the text of one.
    let in_string = function.get("arguments").is_some_and(|json| json.starts_with('"'));
    let in_object = function.get("arguments").is_some_and(|json| json.starts_with('{'));
    // Bytes that no provider would take are not kept.
    let plain = in_string && object.has_only(&["id", "type", "function"]) && function.has_only(&["name", "arguments"])
        || matches!(arguments, Arguments::Text(_))
        || !(in_string || in_object)
        || !object.has("function");
    let content = Content::ToolCall(ToolCall { id, name, arguments });
    if plain { Block::new(content) } else { with_raw(content, Dialect::OpenaiChat, json) }
}

fn function_of(function: &Object<'_>) -> (Arc<str>, Arguments) {
    let name = Arc::from(&*function.text("name").unwrap_or_default());
    let recorded = function.get("arguments").unwrap_or("\"{}\"");
    let arguments = match json::string(recorded) {
        Some(text) => arguments(&text),
        None => Arguments::Json(Arc::from(recorded)),
    };
    (name, arguments)
}

/// A call in a recording that prints its list of calls as text: `[{'name': 'run', 'arguments': {…}}]`.
fn call_in_text(text: &str) -> Option<Block> {
    let quoted = |key: &str| {
        let rest = &text[text.find(key)? + key.len()..];
        let quote = rest.chars().find(|char| matches!(char, '\'' | '"'))?;
        rest.split(quote).nth(1)
    };
    let name = quoted("'name':").or_else(|| quoted("\"name\":"))?;
    let arguments = Arguments::Text(Arc::from(text));
    Some(Block::new(Content::ToolCall(ToolCall { id: Arc::from(""), name: Arc::from(name), arguments })))
}

/// Calls that a model writes into its text as `<tool_call>{"name": …, "arguments": …}</tool_call>`, without the white
/// space around them. Linear.
pub(crate) fn text_calls(blocks: &[Block]) -> Vec<TextCall> {
    const TAGS: (&str, &str) = ("<tool_call>", "</tool_call>");
    let mut calls = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let Content::Text { text } = &block.content else { continue };
        let mut at = 0;
        while let Some(open) = text[at..].find(TAGS.0) {
            let inner = at + open + TAGS.0.len();
            let Some(length) = text[inner..].find(TAGS.1) else { break };
            let call = text[inner..inner + length].trim();
            let start = json::offset(text.as_bytes(), call);
            let name = Object::parse(call).and_then(|call| Some(Arc::from(&*call.text("name")?)));
            calls.extend(text_call(name.unwrap_or_else(|| Arc::from("tool_call")), index, start..start + call.len()));
            at = inner + length + TAGS.1.len();
        }
    }
    calls
}

/// A call in the text of a block; `None` where it is empty or beyond 4 GiB.
pub(crate) fn text_call(name: Arc<str>, block: usize, range: Range<usize>) -> Option<TextCall> {
    let place = |at: usize| u32::try_from(at).ok();
    let call = TextCall { name, block: place(block)?, start: place(range.start)?, end: place(range.end)? };
    (call.start < call.end).then_some(call)
}
