//! Readers of providers' requests.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Message, Origin, Role, Session};
use serde_json::Value;
use serde_json::value::RawValue;

use super::blocks::{anthropic, chat, responses};
use super::documents::{Envelope, envelopes};
use super::group::Grouper;
use super::json::{self, Object};
use crate::error::{ReadError, Warning};
use crate::input::{Probe, Shape};
use crate::{Format, LoadedSession};

/// Where OpenAI chat requests keep their messages, and recordings of them.
pub(crate) const CHAT_KEYS: &[&str] = &["messages", "conversation"];
/// Where Anthropic requests keep their messages.
pub(crate) const ANTHROPIC_KEYS: &[&str] = &["messages"];
/// Where Responses requests keep their items.
pub(crate) const RESPONSES_KEYS: &[&str] = &["input"];

/// The fields that hold the messages of `format`.
pub(crate) fn keys(format: Format) -> &'static [&'static str] {
    match format {
        Format::Anthropic => ANTHROPIC_KEYS,
        Format::OpenaiResponses => RESPONSES_KEYS,
        _ => CHAT_KEYS,
    }
}

pub(crate) fn fits_chat(probe: &Probe<'_>) -> bool {
    candidates(probe).any(|candidate| {
        CHAT_KEYS.iter().any(|key| candidate[*key].as_array().is_some_and(|list| list.iter().any(is_chat_message)))
            || is_chat_message(candidate)
    })
}

pub(crate) fn fits_anthropic(probe: &Probe<'_>) -> bool {
    let of_anthropic = |message: &Value| {
        const KINDS: [&str; 6] =
            ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"];
        let block = |block: &Value| {
            let kind = block["type"].as_str().unwrap_or_default();
            KINDS.contains(&kind)
                || (kind == "image" && block["source"].is_object())
                || block["cache_control"].is_object()
        };
        message["role"].is_string() && message["content"].as_array().is_some_and(|blocks| blocks.iter().any(block))
    };
    let of_openai = |message: &Value| {
        matches!(message["role"].as_str(), Some("tool" | "function" | "developer"))
            || message["tool_calls"].is_array()
            || message["function_call"].is_object()
    };
    let mut marked = false;
    for candidate in candidates(probe) {
        let request = candidate["messages"].as_array();
        let messages = request.map_or_else(|| std::slice::from_ref(candidate), Vec::as_slice);
        if messages.iter().any(of_openai) {
            return false;
        }
        let of_request = request.is_some_and(|list| list.iter().all(is_chat_message))
            && (matches!(candidate["system"], Value::String(_) | Value::Array(_))
                || candidate.get("anthropic_version").is_some()
                || candidate["tools"]
                    .as_array()
                    .is_some_and(|tools| tools.iter().any(|it| it["input_schema"].is_object()))
                || candidate["model"].as_str().is_some_and(|model| model.starts_with("claude")));
        marked |= of_request || messages.iter().any(of_anthropic);
    }
    marked
}

pub(crate) fn fits_responses(probe: &Probe<'_>) -> bool {
    let is_item = |item: &Value| {
        const KINDS: [&str; 8] = [
            "message",
            "reasoning",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
            "item_reference",
            "compaction",
        ];
        let kind = item["type"].as_str().unwrap_or_default();
        let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of_part =
            |part: &Value| matches!(part["type"].as_str(), Some("input_text" | "output_text" | "input_image"));
        (KINDS.contains(&kind) && (kind != "message" || item["role"].is_string()) && item.get("payload").is_none())
            || (item["role"].is_string() && parts.iter().any(of_part))
    };
    candidates(probe).any(|candidate| match &candidate["input"] {
        Value::Array(items) => items.iter().any(|item| is_item(item) || is_chat_message(item)),
        Value::String(_) => candidate["model"].is_string() || candidate["instructions"].is_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => is_item(candidate),
    })
}

/// What could be a request or a message: the document, the items of its list, or the first lines and their items.
fn candidates<'a>(probe: &'a Probe<'_>) -> impl Iterator<Item = &'a Value> {
    let tops = match probe.shape {
        Shape::Document(_) => std::slice::from_ref(&probe.document),
        Shape::Lines(_) | Shape::Text(_) => &probe.heads,
    };
    tops.iter().flat_map(|top| match top {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    })
}

fn is_chat_message(value: &Value) -> bool {
    const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];
    value["role"].as_str().is_some_and(|role| ROLES.contains(&role))
        && (value.get("content").is_some() || value.get("tool_calls").is_some() || value.get("function_call").is_some())
}

pub(crate) fn read_chat(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    sessions(probe, Format::OpenaiChat, warnings, |envelope, builder| {
        let mut legacy_call = 0;
        for (number, (span, json)) in envelope.items.iter().enumerate() {
            match with_role(json) {
                Some(object) => {
                    let record = builder.record(span.clone());
                    builder.push(chat::message(&object, &mut legacy_call), record, &object);
                }
                None => builder.warn_skipped(number),
            }
        }
    })
}

pub(crate) fn read_anthropic(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    sessions(probe, Format::Anthropic, warnings, |envelope, builder| {
        if let Some(system) = envelope.wrapper.as_ref().and_then(|wrapper| wrapper.get("system")) {
            builder.instructions(envelope, system, anthropic::blocks(system));
        }
        for (number, (span, json)) in envelope.items.iter().enumerate() {
            let Some(object) = with_role(json) else {
                builder.warn_skipped(number);
                continue;
            };
            let record = builder.record(span.clone());
            let role = object.text("role").unwrap_or_default();
            for message in anthropic::messages(&role, object.get("content").unwrap_or_default()) {
                builder.push(message, record, &object);
            }
        }
    })
}

pub(crate) fn read_responses(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    sessions(probe, Format::OpenaiResponses, warnings, |envelope, builder| {
        if let Some(instructions) = envelope.wrapper.as_ref().and_then(|wrapper| wrapper.get("instructions")) {
            builder.instructions(envelope, instructions, anthropic::blocks(instructions));
        }
        let mut grouper = Grouper::default();
        let objects = envelope.items.iter().filter_map(|(_, json)| Object::parse(json));
        let answered: HashSet<String> = objects.filter_map(|object| responses::answers(&object)).collect();
        for (span, json) in &envelope.items {
            let record = builder.record(span.clone());
            grouper.add(responses::item(json, &answered), record, None, None);
        }
        builder.messages.extend(grouper.finish());
    })
}

/// The object that a message is; `None` where it has no role.
fn with_role(json: &str) -> Option<Object<'_>> {
    Object::parse(json).filter(|object| object.text("role").is_some())
}

/// Reads each envelope into a session.
fn sessions(
    probe: &Probe<'_>,
    format: Format,
    warnings: &mut Vec<Warning>,
    mut fill: impl FnMut(&Envelope<'_>, &mut Builder),
) -> Result<Vec<LoadedSession>, ReadError> {
    let malformed = |problem: String| ReadError::Malformed { format: format.as_str(), problem };
    let envelopes = envelopes(&probe.shape, keys(format));
    if envelopes.is_empty() {
        let problem = match &probe.shape {
            Shape::Document(text) => match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => format!("there is no list of messages, and no field `{}`", keys(format).join("` or `")),
                Err(error) => format!("not JSON: {error}"),
            },
            Shape::Lines(_) => "no line holds a message".to_owned(),
            Shape::Text(_) => "it is text and not JSON".to_owned(),
        };
        return Err(malformed(problem));
    }
    let many = envelopes.len() > 1;
    let mut loaded = Vec::with_capacity(envelopes.len());
    for (index, envelope) in envelopes.iter().enumerate() {
        let mut builder = Builder::default();
        fill(envelope, &mut builder);
        let name = envelope.wrapper.as_ref().and_then(name_of).unwrap_or_else(|| index.to_string());
        for number in &builder.skipped {
            let place = if many { format!("session {name}, ") } else { String::new() };
            let message = format!("passed over: {place}message {number} is no object with a role");
            warnings.push(Warning { line: None, message });
        }
        if builder.messages.is_empty() && !envelope.items.is_empty() {
            return Err(malformed(format!("session {name} holds no message with a role")));
        }
        let mut session = Session::new();
        session.extend(builder.messages);
        if let Some(wrapper) = &envelope.wrapper {
            session.tools = wrapper.get("tools").or_else(|| wrapper.get("functions")).map(Arc::from);
            session.id = name_of(wrapper).map(Arc::from);
        }
        loaded.push(LoadedSession { name, session, records: builder.records });
    }
    Ok(loaded)
}

fn name_of(wrapper: &Object<'_>) -> Option<String> {
    ["session_id", "instance_id", "id", "task_id"].iter().find_map(|key| {
        let json = wrapper.get(key).filter(|json| !json.starts_with(['{', '[']))?;
        Some(json::string(json).map_or_else(|| json.to_owned(), |text| text.into_owned()))
    })
}

#[derive(Default)]
struct Builder {
    messages: Vec<Message>,
    records: Vec<Range<usize>>,
    skipped: Vec<usize>,
}

impl Builder {
    fn record(&mut self, span: Range<usize>) -> u32 {
        self.records.push(span);
        self.records.len() as u32 - 1
    }

    fn push(&mut self, mut message: Message, record: u32, object: &Object<'_>) {
        if let Some(id) = object.text("id") {
            message.id = epitome_session::MessageId::new(&*id);
        }
        message.timestamp = object.text("timestamp").and_then(|time| super::time::parse(&time));
        message.records = vec![record];
        self.messages.push(message);
    }

    /// The system prompt that stands beside the messages.
    fn instructions(&mut self, envelope: &Envelope<'_>, json: &str, blocks: Vec<epitome_session::Block>) {
        let Some(base) = envelope.offset_of(json) else { return };
        let record = self.record(base..base + json.len());
        let message = Message::new("", Role::System, Origin::Instructions, blocks);
        self.messages.push(Message { records: vec![record], ..message });
    }

    fn warn_skipped(&mut self, number: usize) {
        self.skipped.push(number);
    }
}
