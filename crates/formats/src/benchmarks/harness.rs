//! Evaluation harnesses that record OpenAI-style messages: tau-bench, Spider2, WebDancer.

use epitome_session::{Origin, Role};
use serde_json::Value;

use crate::json::value::{first_object, id, items, non_empty_str};
use crate::openai_chat::blocks::text_calls;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::chat;
use crate::recording::records::{first_record, records};
use crate::recording::session_builder::{SessionBuilder, gather};

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

pub(crate) fn fits_tau_bench(probe: &Probe<'_>) -> bool {
    let run = first_run(&probe.document);
    !run["task_id"].is_null() && has_roles(&run["traj"])
}

pub(crate) fn read_tau_bench(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let sessions = runs(&probe.document).iter().map(|run| {
        let name = format!("task{}_trial{}", id(&run["task_id"]), id(&run["trial"]));
        (name.clone(), chat_session(&run["traj"], name))
    });
    gather(Format::TauBench, sessions, warnings)
}

pub(crate) fn fits_spider2(probe: &Probe<'_>) -> bool {
    let run = first_run(&probe.document);
    run["instance_id"].is_string() && has_roles(&run["conversation"])
}

pub(crate) fn read_spider2(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let sessions = runs(&probe.document).iter().enumerate().map(|(number, run)| {
        let name = non_empty_str(&run["instance_id"]).map_or_else(|| number.to_string(), str::to_owned);
        (name.clone(), chat_session(&run["conversation"], name))
    });
    gather(Format::OpenaiChat, sessions, warnings)
}

fn chat_session(messages: &Value, name: String) -> Option<LoadedSession> {
    let mut log = SessionBuilder::default();
    for message in items(messages) {
        chat::push(&mut log, message);
    }
    log.finish(name)
}

pub(crate) fn fits_webdancer(probe: &Probe<'_>) -> bool {
    first_record(probe).is_some_and(|record| record["type"] == "chatml" && has_roles(&record["messages"]))
}

pub(crate) fn read_webdancer(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut sessions = Vec::new();
    for (number, record) in records(probe, warnings).enumerate() {
        let name = number.to_string();
        let mut log = SessionBuilder::default();
        log.session.tools = (!items(&record["functions"]).is_empty()).then(|| record["functions"].to_string().into());
        let mut called = None;
        for message in items(&record["messages"]) {
            webdancer_message(&mut log, message, &mut called);
        }
        sessions.push((name.clone(), log.finish(name)));
    }
    gather(Format::OpenaiChat, sessions, warnings)
}

fn webdancer_message(log: &mut SessionBuilder, message: &Value, called: &mut Option<String>) {
    match message["role"].as_str() {
        Some("assistant") => {
            let mut turn = chat::assistant(log, message);
            turn.text_calls = text_calls(&turn.blocks);
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
