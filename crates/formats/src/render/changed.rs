//! The recorded bytes of blocks that changed, with the change in them: every other field stays as it came.

use epitome_session::{Arguments, Block, Content, Dialect, Entry, Message, RawBlock};
use serde_json::{Map, Value, json};

use crate::json;
use crate::json::value::items;
use crate::{anthropic, openai_chat};

/// The signature that Gemini's models take on a call that is not as they made it (ai.google.dev/gemini-api/docs/thought-signatures,
/// "FAQs").
pub(crate) const OF_ANOTHER_MODEL: &str = "skip_thought_signature_validator";

/// The fields of a signature, as Gemini's parts have it and as its calls in OpenAI's form do.
const SIGNATURES: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// Puts the recorded bytes into the blocks of an edited message that have a place for their change in them. Linear in these.
pub(super) fn carry_over(entry: &Entry, message: &mut Message, dialect: Dialect) {
    for (before, after) in entry.original.blocks.iter().zip(&mut message.blocks) {
        if let Some(raw) = carried_over(before, after, dialect) {
            after.raw = Some(raw);
        }
    }
}

/// The recorded bytes of the block `before`, with what changed of it in `after`; `None` where nothing did, or where they have no
/// place for it.
pub(super) fn carried_over(before: &Block, after: &Block, dialect: Dialect) -> Option<RawBlock> {
    let recorded = before.raw.as_ref().filter(|raw| raw.dialect == dialect && after.raw.is_none());
    let raw = recorded.filter(|_| before.content != after.content)?;
    Some(RawBlock { dialect, json: changed(raw, before, after)?.into() })
}

/// The recorded bytes with the content of the block `after`; `None` where they have no one place for it.
fn changed(raw: &RawBlock, before: &Block, after: &Block) -> Option<String> {
    let kept = json::keep_halves(&raw.json);
    let mut value: Value = serde_json::from_str(kept.as_deref().unwrap_or(&raw.json)).ok()?;
    match (&before.content, &after.content) {
        (Content::ToolCall(was), Content::ToolCall(is)) if was.id == is.id && was.name == is.name => {
            let is_custom = value["type"] == "custom_tool_call" || value.get("custom").is_some();
            let place = arguments_of(&mut value, raw.dialect)?;
            *place = argument(&is.arguments, is_custom, place.is_string())?;
            sign_anew(&mut value);
        }
        (Content::ToolResult(was), Content::ToolResult(is))
            if was.call_id == is.call_id && was.attachments == is.attachments && was.is_error == is.is_error =>
        {
            let place = match raw.dialect {
                Dialect::Anthropic if value["type"] == "tool_result" => value.get_mut("content")?,
                Dialect::OpenaiResponses if is_clients_output(&value) => value.get_mut("output")?,
                Dialect::OpenaiChat => &mut value, // the content
                _ => return None,
            };
            // Media within other parts have no place of their own.
            if media_parts(place, raw.dialect) != is.attachments.len() {
                return None;
            }
            set_text(place, &is.text, true, raw.dialect)?;
        }
        // A chunk of reasoning among the parts of a message.
        (Content::Thinking(_), Content::Thinking(is)) if raw.dialect == Dialect::OpenaiChat => {
            let place = value.get_mut("thinking")?;
            *place = if place.is_string() { json!(&*is.text) } else { json!([{ "type": "text", "text": &*is.text }]) };
        }
        // What a search found is more than its text.
        (Content::Text { .. }, Content::Text { .. }) if value["type"] == "search_result" => return None,
        (Content::Text { .. }, Content::Text { text }) => {
            let fields = value.as_object_mut()?;
            *text_of(fields)? = Value::from(&**text);
            // What it refers to is said of the text as it was.
            let is_of_text = |name: &str| matches!(name, "citations" | "annotations" | "logprobs");
            fields.retain(|name, _| !is_of_text(name));
            if let Some(Value::Array(parts)) = fields.get_mut("content") {
                parts
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(|part| part.retain(|name, _| !is_of_text(name)));
            }
        }
        _ => return None,
    }
    let written = value.to_string();
    Some(if kept.is_some() { json::restore_halves(written) } else { written })
}

fn is_clients_output(item: &Value) -> bool {
    item["type"].as_str().is_some_and(|kind| matches!(kind, "function_call_output" | "custom_tool_call_output"))
}

/// The place of a call's arguments, for calls of the client's own tools.
fn arguments_of(call: &mut Value, dialect: Dialect) -> Option<&mut Value> {
    let is = |kind: &str| call["type"] == kind;
    match dialect {
        Dialect::Anthropic if is("tool_use") => call.get_mut("input"),
        Dialect::OpenaiResponses if is("function_call") => call.get_mut("arguments"),
        Dialect::OpenaiResponses if is("custom_tool_call") => call.get_mut("input"),
        Dialect::OpenaiChat if call.get("custom").is_some() => call.get_mut("custom")?.get_mut("input"),
        Dialect::OpenaiChat => call.get_mut("function")?.get_mut("arguments"),
        Dialect::Gemini => ["functionCall", "function_call"]
            .into_iter()
            .find(|name| call.get(*name).is_some())
            .and_then(|name| call.get_mut(name)?.get_mut("args")),
        _ => None,
    }
}

/// The arguments as their place has them: as text where it holds text, else as JSON.
fn argument(arguments: &Arguments, is_custom: bool, is_text: bool) -> Option<Value> {
    let text = arguments.text();
    match arguments {
        Arguments::Text(_) if is_custom => Some(Value::from(&**text)),
        Arguments::Json(_) if is_text && text.trim_start().starts_with('{') => Some(Value::from(&**text)),
        Arguments::Json(_) if !is_text => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

/// The place of a block's, or an item's, one text.
fn text_of(fields: &mut Map<String, Value>) -> Option<&mut Value> {
    if fields.get("text").is_some_and(Value::is_string) {
        return fields.get_mut("text");
    }
    match fields.get_mut("content")? {
        Value::Array(parts) if parts.len() == 1 => parts[0].get_mut("text").filter(|text| text.is_string()),
        _ => None,
    }
}

/// Sets the text of a content that is a text, or a list of parts: it stands in place of all parts that it was read from, and
/// the pictures and files beside them stay where they are to. `None` for any other content.
pub(crate) fn set_text(content: &mut Value, text: &str, keeps_media: bool, dialect: Dialect) -> Option<()> {
    match content {
        Value::String(_) => *content = Value::from(text),
        Value::Array(parts) => {
            let mut first = None;
            let mut kept = Vec::with_capacity(parts.len());
            let usual = if dialect == Dialect::OpenaiResponses { "input_text" } else { "text" };
            let mut kind = usual.to_owned();
            for part in std::mem::take(parts) {
                if is_media_part(&part, dialect) {
                    kept.extend(keeps_media.then_some(part));
                    continue;
                }
                let of_text = part["type"].as_str().filter(|kind| part["text"].is_string() && kind.ends_with("text"));
                if let (None, Some(of_text)) = (first, of_text) {
                    kind = of_text.to_owned();
                }
                first = first.or(Some(kept.len()));
            }
            if !text.is_empty() {
                kept.insert(first.unwrap_or(0), json!({ "type": kind, "text": text }));
            }
            *parts = kept;
        }
        _ => return None,
    }
    Some(())
}

/// The number of a content's parts that are media.
fn media_parts(content: &Value, dialect: Dialect) -> usize {
    items(content).iter().filter(|part| is_media_part(part, dialect)).count()
}

/// Whether a part of a result's content is read as a picture or a file.
fn is_media_part(part: &Value, dialect: Dialect) -> bool {
    if !part.is_object() || part["text"].is_string() {
        return false;
    }
    match dialect {
        Dialect::Anthropic => anthropic::blocks::is_media_part(&part.to_string()),
        Dialect::OpenaiChat => matches!(openai_chat::blocks::part(&part.to_string()).content, Content::Media(_)),
        Dialect::OpenaiResponses => {
            matches!(part["type"].as_str(), Some("input_image" | "input_file" | "input_audio"))
        }
        _ => false,
    }
}

/// Puts the mark of a call that its model did not make so in place of a signature, which holds for what was signed alone.
pub(crate) fn sign_anew(call: &mut Value) {
    let Some(fields) = call.as_object_mut() else { return };
    for (name, value) in fields.iter_mut() {
        match value {
            Value::String(signature) if SIGNATURES.contains(&name.as_str()) => *signature = OF_ANOTHER_MODEL.to_owned(),
            // What surrounds the call, and not what it asks for.
            Value::Object(_) if matches!(name.as_str(), "extra_content" | "google" | "provider_specific_fields") => {
                sign_anew(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome_session::{Media, MediaSource, ToolCall, ToolResult};

    use super::*;

    fn call(text: &str) -> Content {
        Content::ToolCall(ToolCall { id: "c".into(), name: "write".into(), arguments: Arguments::Json(text.into()) })
    }

    fn result(text: &str) -> Content {
        let (call_id, text) = ("c".into(), text.into());
        Content::ToolResult(ToolResult { call_id, name: None, text, attachments: Vec::new(), is_error: false })
    }

    #[test]
    fn what_stays_beside_a_change() {
        let check = |dialect, recorded: Value, before: Content, after: Content, expect: Option<Value>| {
            let raw = RawBlock { dialect, json: recorded.to_string().into() };
            let json = changed(&raw, &Block::new(before), &Block::new(after));
            assert_eq!(json.map(|json| serde_json::from_str::<Value>(&json).unwrap()), expect, "{recorded}");
        };
        let (long, short) = (r#"{"text":"long"}"#, r#"{"text":"l"}"#);
        let item = |arguments: &str| json!({"type": "function_call", "id": "fc_1", "status": "completed", "namespace": "n", "call_id": "c", "name": "write", "arguments": arguments});
        check(Dialect::OpenaiResponses, item(long), call(long), call(short), Some(item(short)));
        let signed = |arguments: &str, signature: &str| json!({"id": "c", "type": "function", "function": {"name": "write", "arguments": arguments}, "extra_content": {"google": {"thought_signature": signature}}});
        check(Dialect::OpenaiChat, signed(long, "S"), call(long), call(short), Some(signed(short, OF_ANOTHER_MODEL)));
        let part = |text: &str, signature: &str| json!({"functionCall": {"name": "write", "args": {"text": text}}, "thoughtSignature": signature});
        check(Dialect::Gemini, part("long", "S"), call(long), call(short), Some(part("l", OF_ANOTHER_MODEL)));
        let marked = |text: &str| json!({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": text}], "cache_control": {"type": "ephemeral"}});
        check(Dialect::Anthropic, marked("long"), result("long"), result("l"), Some(marked("l")));
        // What the text was read from leaves, whatever kind it is; the pictures stay where they are.
        let picture = json!({"type": "image", "source": {"type": "url", "url": "https://p"}});
        let holding = |parts: Value| json!({"type": "tool_result", "tool_use_id": "c", "content": parts});
        let found = json!({"type": "search_result", "source": "https://x", "title": "t", "content": [{"type": "text", "text": "long"}]});
        let paper = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "long"}});
        let cut = json!({"type": "text", "text": "l"});
        for part in [found.clone(), paper, json!({"type": "novelty", "text": "long"}), json!("long")] {
            let recorded = holding(json!([part]));
            check(Dialect::Anthropic, recorded, result("long"), result("l"), Some(holding(json!([cut]))));
        }
        let shown = |text: &str| match result(text) {
            Content::ToolResult(result) => {
                let place = MediaSource::Url("https://p".into());
                let attachments = vec![Media { source: place, ..Media::default() }];
                Content::ToolResult(ToolResult { attachments, ..result })
            }
            other => other,
        };
        check(
            Dialect::Anthropic,
            holding(json!([picture, found])),
            shown("long"),
            shown("l"),
            Some(holding(json!([picture, cut]))),
        );
        // A picture within another part has no place of its own.
        let within = json!({"type": "document", "source": {"type": "content", "content": [picture]}});
        check(Dialect::Anthropic, holding(json!([within])), shown("long"), shown("l"), None);
        let output = |parts: Value| json!({"type": "function_call_output", "call_id": "c", "output": parts});
        check(
            Dialect::OpenaiResponses,
            output(json!([{"type": "novelty", "stdout": "long"}])),
            result("long"),
            result("l"),
            Some(output(json!([{"type": "input_text", "text": "l"}]))),
        );
        let own = json!({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "long"}]});
        check(Dialect::OpenaiResponses, own, result("long"), result("l"), None);
        let said = |text: &str| Content::Text { text: text.into() };
        let part = |text: &str| json!({"type": "output_text", "text": text});
        let message = |part: Value| json!({"type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "content": [part]});
        let mut cited = part("long");
        cited["annotations"] = json!([{"type": "url_citation", "start_index": 0, "end_index": 4}]);
        cited["logprobs"] = json!([]);
        check(Dialect::OpenaiResponses, message(cited), said("long"), said("l"), Some(message(part("l"))));
        let block = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        check(Dialect::Anthropic, block("long"), said("long"), said("l"), Some(block("l")));
    }
}
