//! Evaluation harnesses that record OpenAI-style messages: tau-bench, Spider2, WebDancer.

use std::ops::Range;

use epitome_session::{Content, Message, Origin, Role};
use serde_json::Value;

use super::chat;
use super::fields::{first_object, id, items, non_empty_str};
use super::log::{Log, gather};
use super::records::{first_record, records};
use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::Probe;
use crate::loaded::LoadedSession;
use crate::reader::FormatReader;

pub(super) const TAU_BENCH: FormatReader =
    FormatReader { format: Format::TauBench, fits: fits_tau_bench, read: read_tau_bench };
pub(super) const SPIDER2: FormatReader =
    FormatReader { format: Format::OpenaiChat, fits: fits_spider2, read: read_spider2 };
pub(super) const WEBDANCER: FormatReader =
    FormatReader { format: Format::OpenaiChat, fits: fits_webdancer, read: read_webdancer };

const OPENING: &str = "<tool_call>";
const CLOSING: &str = "</tool_call>";
const RESPONSE: &str = "<tool_response>";

/// The runs of a file: a list, or a single one.
fn runs(document: &Value) -> &[Value] {
    match document {
        Value::Array(runs) => runs,
        single => std::slice::from_ref(single),
    }
}

fn first_run(document: &Value) -> &Value {
    if document.is_array() { first_object(document).unwrap_or(&Value::Null) } else { document }
}

fn has_roles(messages: &Value) -> bool {
    first_object(messages).is_some_and(|message| message["role"].is_string())
}

fn fits_tau_bench(probe: &Probe<'_>) -> bool {
    let run = first_run(&probe.document);
    !run["task_id"].is_null() && has_roles(&run["traj"])
}

fn read_tau_bench(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let sessions = runs(&probe.document).iter().map(|run| {
        let name = format!("task{}_trial{}", id(&run["task_id"]), id(&run["trial"]));
        (name.clone(), chat_session(&run["traj"], name))
    });
    gather(Format::TauBench, sessions, warnings)
}

fn fits_spider2(probe: &Probe<'_>) -> bool {
    let run = first_run(&probe.document);
    run["instance_id"].is_string() && has_roles(&run["conversation"])
}

fn read_spider2(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let sessions = runs(&probe.document).iter().enumerate().map(|(number, run)| {
        let name = non_empty_str(&run["instance_id"]).map_or_else(|| number.to_string(), str::to_owned);
        (name.clone(), chat_session(&run["conversation"], name))
    });
    gather(Format::OpenaiChat, sessions, warnings)
}

fn chat_session(messages: &Value, name: String) -> Option<LoadedSession> {
    let mut log = Log::default();
    for message in items(messages) {
        chat::push(&mut log, message);
    }
    log.finish(name)
}

fn fits_webdancer(probe: &Probe<'_>) -> bool {
    first_record(probe).is_some_and(|record| record["type"] == "chatml" && has_roles(&record["messages"]))
}

fn read_webdancer(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut sessions = Vec::new();
    for (number, record) in records(probe, warnings).enumerate() {
        let name = number.to_string();
        let mut log = Log::default();
        log.session.tools = (!items(&record["functions"]).is_empty()).then(|| record["functions"].to_string().into());
        let mut called = None;
        for message in items(&record["messages"]) {
            webdancer_message(&mut log, message, &mut called);
        }
        sessions.push((name.clone(), log.finish(name)));
    }
    gather(Format::OpenaiChat, sessions, warnings)
}

fn webdancer_message(log: &mut Log, message: &Value, called: &mut Option<String>) {
    match message["role"].as_str() {
        Some("assistant") => {
            let mut turn = chat::assistant(log, message);
            mark_tagged_calls(&mut turn);
            *called = turn.text_calls.last().map(|call| call.name.to_string());
            log.push(turn);
        }
        Some("user") => {
            let mut user = chat::plain(message, Role::User, Origin::Typed);
            if user.plain_text().trim_start().starts_with(RESPONSE) {
                user.origin = Origin::ToolOutput;
                user.name = called.take().map(Into::into);
            }
            log.push(user);
        }
        _ => chat::push(log, message),
    }
}

/// Marks the JSON inside each pair of call tags.
fn mark_tagged_calls(turn: &mut Message) {
    let mut found = Vec::new();
    for (block, content) in turn.blocks.iter().enumerate() {
        let Content::Text { text } = &content.content else { continue };
        for range in tag_ranges(text) {
            let call: Value = serde_json::from_str(&text[range.clone()]).unwrap_or(Value::Null);
            found.push((call["name"].as_str().unwrap_or("tool_call").to_owned(), block, range));
        }
    }
    for (name, block, range) in found {
        chat::mark_call(turn, &name, block, range);
    }
}

/// What stands between call tags, without the white space around it. Linear.
fn tag_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(opening) = text[at..].find(OPENING) {
        let start = at + opening + OPENING.len();
        let Some(length) = text[start..].find(CLOSING) else { break };
        let inner = &text[start..start + length];
        let lead = inner.len() - inner.trim_start().len();
        ranges.push(start + lead..start + lead + inner.trim().len());
        at = start + length + CLOSING.len();
    }
    ranges
}

#[cfg(test)]
#[path = "harness_tests.rs"]
mod tests;
