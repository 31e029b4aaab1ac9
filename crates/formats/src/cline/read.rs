//! Cline SDK sessions: Anthropic-style blocks, and the files that its two ways of compaction leave.

use epitome_session::{Block, Content, Dialect, Message, Origin, Role, Usage};
use serde_json::Value;

use crate::json::value::{arguments, first_object, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::content::{content, payload};
use crate::recording::session_builder::{Answer, SessionBuilder};
use crate::time;

/// The beginning of the text that the basic compaction appends to a user's message.
const NOTICE: &str = "<SYSTEM_NOTICE>";

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    document["sessionId"].is_string()
        && document["agent"].is_string()
        && first_object(&document["messages"]).is_some_and(|message| message["role"].is_string())
}

pub(crate) fn read(probe: &Probe<'_>, _: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let document = &probe.document;
    let id = document["sessionId"].as_str().unwrap_or("");
    let mut log = SessionBuilder::new(id);
    log.push_text("", Role::System, Origin::Instructions, document["system_prompt"].as_str().unwrap_or(""), None);
    for one in items(&document["messages"]) {
        match one["role"].as_str() {
            Some("assistant") => assistant(&mut log, one),
            Some("user") => user(&mut log, one),
            _ => {}
        }
    }
    if !log.session.log().iter().any(|message| message.role != Role::System) {
        return Err(ReadError::malformed(Format::Cline, "no element of `messages` has a role and content"));
    }
    Ok(log.finish(if id.is_empty() { "0" } else { id }).into_iter().collect())
}

fn assistant(log: &mut SessionBuilder, message: &Value) {
    let mut blocks = Vec::new();
    for part in parts(message) {
        if matches!(part["type"].as_str(), Some("tool_use" | "server_tool_use")) {
            let (id, name) = (part["id"].as_str().unwrap_or(""), part["name"].as_str().unwrap_or(""));
            blocks.push(log.call(id, name, arguments(&part["input"])));
        } else {
            blocks.extend(content(part, Dialect::Anthropic));
        }
    }
    let mut turn = Message::new(id(message), Role::Assistant, Origin::Model, blocks);
    turn.timestamp = time::of_value(&message["ts"]);
    turn.usage = usage(&message["metrics"]);
    log.push(turn);
}

/// Results come first, each as a message of its own; then what the user said; then the notice of a compaction.
fn user(log: &mut SessionBuilder, message: &Value) {
    let at = time::of_value(&message["ts"]);
    let (mut said, mut notices, mut answered) = (Vec::new(), Vec::new(), false);
    for part in parts(message) {
        match part["type"].as_str() {
            Some("tool_result") => {
                answered = true;
                let answer = Answer {
                    call_id: part["tool_use_id"].as_str().unwrap_or(""),
                    name: part["name"].as_str(),
                    payload: payload(&part["content"]),
                    is_error: part["is_error"] == Value::Bool(true),
                };
                let result = log.answer(id(message), answer, at);
                log.push(result);
            }
            Some("file") if part["content"].is_string() => said.push(file(part)),
            _ if part["text"].as_str().is_some_and(|text| text.starts_with(NOTICE)) => {
                notices.extend(content(part, Dialect::Anthropic));
            }
            _ => said.extend(content(part, Dialect::Anthropic)),
        }
    }
    // Text beside results is the environment's; a message that a compaction wrote says so.
    let is_summary = message["metadata"]["kind"] == "compaction_summary";
    let origin = match (is_summary, answered) {
        (true, _) => Origin::Summary,
        (false, true) => Origin::Injected,
        (false, false) => Origin::Typed,
    };
    for (origin, blocks) in [(origin, said), (Origin::Summary, notices)] {
        let mut message = Message::new(id(message), Role::User, origin, blocks);
        message.timestamp = at;
        log.push(message);
    }
}

/// An attached file with its path: the path is what the model names it by later.
fn file(part: &Value) -> Block {
    let (path, text) = (part["path"].as_str().unwrap_or(""), part["content"].as_str().unwrap_or(""));
    let text = format!("<file_content path=\"{path}\">\n{text}\n</file_content>");
    Block::new(Content::Text { text: text.into() })
}

fn parts(message: &Value) -> &[Value] {
    match &message["content"] {
        Value::Array(parts) => parts,
        other => std::slice::from_ref(other),
    }
}

fn id(message: &Value) -> &str {
    non_empty_str(&message["id"]).unwrap_or("")
}

fn usage(metrics: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    Some(Usage {
        input: metrics["inputTokens"].as_u64()?,
        cache_read: count(&metrics["cacheReadTokens"]),
        cache_write: count(&metrics["cacheWriteTokens"]),
        output: count(&metrics["outputTokens"]),
    })
}
