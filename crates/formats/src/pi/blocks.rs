//! Pi's messages and content blocks.

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Dialect, Media, MediaSource, Message, Origin, Role, Thinking, ToolCall, ToolResult,
    Usage,
};

use crate::blocks::{answer, opaque, system_message, user_message, with_raw};
use crate::json::{self, Object};

/// Reads one Pi message; it has no id yet. `None` for roles that the model does not see.
pub(crate) fn message(object: &Object<'_>) -> Option<Message> {
    let content = object.get("content").unwrap_or_default();
    let message = match object.text("role").unwrap_or_default().as_ref() {
        "assistant" => {
            // Anthropic's signatures are its own wire format; those of other providers are wrapped in Pi's.
            let dialect =
                if object.text("api").as_deref() == Some("anthropic-messages") { None } else { Some(Dialect::Pi) };
            let usage = object.object("usage").map(|usage| read_usage(&usage));
            let blocks = blocks(content, dialect);
            Message { usage, ..Message::new("", Role::Assistant, Origin::Model, blocks) }
        }
        "toolResult" => result(object, content),
        "bashExecution" => {
            if object.is_true("excludeFromContext") {
                return None;
            }
            Message::text("", Role::User, Origin::Injected, execution(object))
        }
        "compactionSummary" | "branchSummary" => return None,
        role @ ("system" | "developer") => system_message(role, blocks(content, None)),
        "custom" | "hookMessage" => Message::new("", Role::User, Origin::Injected, blocks(content, None)),
        _ => user_message(blocks(content, None)),
    };
    Some(message)
}

/// What the model is told of a command that the person ran, as Pi says it (`core/messages.js` of its 1.5.2).
fn execution(object: &Object<'_>) -> String {
    let text = |name: &str| object.text(name).filter(|text| !text.is_empty());
    let output = text("output").map_or_else(|| "(no output)".to_owned(), |output| format!("```\n{output}\n```"));
    let mut text_shown = format!("Ran `{}`\n{output}", text("command").unwrap_or_default());
    match object.number::<i64>("exitCode").filter(|code| *code != 0) {
        _ if object.is_true("cancelled") => text_shown.push_str("\n\n(command cancelled)"),
        Some(code) => text_shown.push_str(&format!("\n\nCommand exited with code {code}")),
        None => {}
    }
    if let Some(path) = text("fullOutputPath").filter(|_| object.is_true("truncated")) {
        text_shown.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text_shown
}

/// A system message: the text of the whole prompt, or of what changes in it (`pi-ai/utils/text.js` of Pi 1.5.2). `None` where
/// it changes only the tools.
pub(super) fn instructions(object: &Object<'_>, is_first: bool) -> Option<Message> {
    let mut blocks = blocks(object.get("content").unwrap_or_default(), None);
    blocks.retain(|block| block.excerptable().is_none_or(|text| !text.is_empty()));
    let sections = object.object("sections").unwrap_or_default();
    let texts = sections.fields().filter_map(|(name, json)| match json::string(json) {
        Some(text) if is_first => Some(text.into_owned()),
        Some(text) => Some(format!("Updated system prompt section \"{name}\":\n\n{text}")),
        None => (!is_first).then(|| format!("Removed system prompt section \"{name}\".")),
    });
    let texts: Vec<String> = texts.collect();
    if !texts.is_empty() {
        blocks.push(Block::text(texts.join("\n\n")));
    }
    (!blocks.is_empty()).then(|| system_message("system", blocks))
}

/// A message with other content, all else as it is.
pub(super) fn with_content(message: &Message, content: &str) -> Message {
    let mut edited = Message { records: Vec::new(), ..message.clone() };
    match message.blocks.iter().find_map(Block::as_result) {
        Some(result) => {
            let (text, attachments) = answer(blocks(content, None));
            let result = ToolResult { text, attachments, ..result.clone() };
            edited.blocks = vec![Block::new(Content::ToolResult(result))];
        }
        None => edited.blocks = blocks(content, (message.role == Role::Assistant).then_some(Dialect::Pi)),
    }
    edited
}

fn read_usage(usage: &Object<'_>) -> Usage {
    let tokens = |name: &str| usage.number(name).unwrap_or(0);
    let (cache_read, cache_write) = (tokens("cacheRead"), tokens("cacheWrite"));
    Usage { input: tokens("input") + cache_read + cache_write, cache_read, cache_write, output: tokens("output") }
}

fn blocks(content: &str, signed_by: Option<Dialect>) -> Vec<Block> {
    if let Some(text) = json::string(content) {
        return vec![Block::text(&*text)];
    }
    json::list(content).unwrap_or_default().into_iter().map(|json| block(json, signed_by)).collect()
}

fn block(json: &str, signed_by: Option<Dialect>) -> Block {
    let Some(object) = Object::parse(json) else { return opaque(json, Dialect::Pi) };
    let text = |name: &str| Arc::<str>::from(&*object.text(name).unwrap_or_default());
    let (content, plain) = match object.text("type").unwrap_or_default().as_ref() {
        "text" => (Content::Text { text: text("text") }, object.has_only(&["type", "text"])),
        "thinking" => {
            let signature = object.text("thinkingSignature").filter(|it| !it.is_empty()).map(|it| Arc::from(&*it));
            let thinking = Thinking { text: text("thinking"), signature, redacted: object.is_true("redacted") };
            let known = object.has_only(&["type", "thinking", "thinkingSignature"]);
            let plain = known && (thinking.signature.is_none() || signed_by.is_none());
            (Content::Thinking(thinking), plain)
        }
        "toolCall" => {
            let arguments = Arguments::Json(Arc::from(object.get("arguments").unwrap_or("{}")));
            let call = ToolCall { id: object.id("id"), name: text("name"), arguments };
            (Content::ToolCall(call), object.has_only(&["type", "id", "name", "arguments"]))
        }
        "image" => {
            let media = Media { mime: text("mimeType"), source: MediaSource::Base64(text("data")), ..Media::default() };
            (Content::Media(media), object.has_only(&["type", "mimeType", "data"]))
        }
        _ => return opaque(json, Dialect::Pi),
    };
    if plain { Block::new(content) } else { with_raw(content, Dialect::Pi, json) }
}

fn result(object: &Object<'_>, content: &str) -> Message {
    let (text, attachments) = answer(blocks(content, None));
    let call_id = object.id("toolCallId");
    let name = object.text("toolName").map(|name| Arc::from(&*name));
    Message::result("", ToolResult { call_id, name, text, attachments, is_error: object.is_true("isError") })
}
