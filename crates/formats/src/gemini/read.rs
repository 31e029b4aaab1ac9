//! Requests of Gemini's contents.

use serde_json::Value;

use super::{SYSTEM_IN_SNAKE_CASE, blocks};
use crate::json::{self, Object};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::requests::{candidates, read_sessions};

/// Fields of which each part has one.
const PARTS: [&str; 12] = [
    "text",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "executableCode",
    "codeExecutionResult",
    "thoughtSignature",
];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let is_part = |part: &Value| part.get("type").is_none() && PARTS.into_iter().any(|name| part.get(name).is_some());
    let is_content = |content: &Value| {
        matches!(content["role"].as_str(), None | Some("user" | "model" | "function"))
            && match &content["parts"] {
                Value::Array(parts) => !parts.is_empty() && parts.iter().all(is_part),
                part => is_part(part), // one in place of a list of one
            }
    };
    // A text says nothing of whose it is.
    let is_request = |candidate: &Value| {
        ["model", "systemInstruction", SYSTEM_IN_SNAKE_CASE, "generationConfig", "config"]
            .into_iter()
            .any(|name| candidate[name].as_str().map_or(candidate[name].is_object(), |name| name.contains("gemini")))
    };
    candidates(probe).any(|candidate| match &candidate["contents"] {
        Value::Array(contents) => contents.iter().any(is_content),
        content @ Value::Object(_) => is_content(content),
        Value::String(_) => is_request(candidate),
        _ => is_content(candidate),
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    read_sessions(probe, Format::Gemini, warnings, |envelope, reader| {
        let system = envelope
            .wrapper
            .as_ref()
            .and_then(|wrapper| blocks::field(wrapper, "systemInstruction", SYSTEM_IN_SNAKE_CASE));
        if let Some(system) = system {
            let parts = Object::parse(system).and_then(|content| content.get("parts"));
            reader.instructions(envelope, system, blocks::blocks(parts.unwrap_or(system)));
        }
        for (number, (span, json)) in envelope.items.iter().enumerate() {
            // A text alone is a user's content, for the clients that make one of it.
            let content = match json::string(json) {
                Some(_) => Some((Object::default(), *json)),
                None => Object::parse(json).and_then(|object| Some((object.clone(), object.get("parts")?))),
            };
            let Some((object, parts)) = content else {
                reader.warn_skipped(number);
                continue;
            };
            let record = reader.record(span.clone());
            let role = object.text("role").unwrap_or_default();
            for message in blocks::messages(&role, parts) {
                reader.push(message, record, &object);
            }
        }
    })
}
