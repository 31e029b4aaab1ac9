//! Copilot CLI events: JSON lines with the compactions and their summaries.

use std::ops::Range;

use epitome_session::{Block, Content, Media, MediaSource, Message, Origin, Role, Trigger, speaker};
use serde_json::Value;

use crate::json::value::{arguments, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::content::{content, payload, text, thinking};
use crate::recording::records::records;
use crate::recording::session_builder::{Answer, SessionBuilder, summary_message, tokens};
use crate::time;

/// Types of event that no other agent writes.
const OWN_EVENTS: &[&str] = &[
    "session.start",
    "session.resume",
    "assistant.turn_start",
    "assistant.message",
    "user.message",
    "system.message",
    "tool.execution_start",
    "tool.execution_complete",
];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let is_event = |value: &Value| {
        value["data"].is_object() && value["type"].as_str().is_some_and(|kind| OWN_EVENTS.contains(&kind))
    };
    is_event(&probe.document) || probe.heads.iter().any(is_event)
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut log = SessionBuilder::default();
    for record in records(probe, warnings) {
        event(&mut log, &record);
    }
    let name = log.session.id.as_deref().unwrap_or("0").to_owned();
    log.finish_alone(Format::CopilotCli, name, "no `user.message` or `assistant.message` event has content")
}

fn event(log: &mut SessionBuilder, event: &Value) {
    let data = &event["data"];
    // The work of a sub-agent is not part of the main context.
    if !event["agentId"].is_null() || !data["parentToolCallId"].is_null() {
        return;
    }
    let id = event["id"].as_str().unwrap_or("");
    let at = time::of_value(&event["timestamp"]);
    match event["type"].as_str().unwrap_or("") {
        "session.start" | "session.resume" => {
            if let (None, Some(id)) = (&log.session.id, non_empty_str(&data["sessionId"])) {
                log.session.id = Some(id.into());
            }
        }
        "system.message" => system(log, id, data["content"].as_str().unwrap_or(""), at),
        "user.message" => user(log, id, data, at),
        "system.notification" => {
            log.push_text(id, Role::User, Origin::Injected, data["content"].as_str().unwrap_or(""), at);
        }
        "assistant.message" => assistant(log, id, data, at),
        "tool.execution_complete" => result(log, id, data, at),
        "session.compaction_complete" if data["success"] != Value::Bool(false) => {
            if let Some(summary) = non_empty_str(&data["summaryContent"]) {
                let summary = summary_message(id, summary, at);
                let before = tokens(&data["preCompactionTokens"]);
                log.compact(Trigger::Recorded, |entry| entry.message.role != Role::System, Some(summary), before);
            }
        }
        _ => {}
    }
}

/// The prompt is recorded again whenever the agent wakes up: only a change of it is news, and then the old one is gone.
fn system(log: &mut SessionBuilder, id: &str, prompt: &str, at: Option<i64>) {
    let newest = log.session.log().iter().rev().find(|message| message.role == Role::System);
    let changed = newest.is_some();
    if newest.is_some_and(|newest| newest.plain_text() == prompt) || prompt.is_empty() {
        return;
    }
    if changed {
        log.compact(Trigger::Recorded, |entry| entry.message.role == Role::System, None, None);
    }
    log.push_text(id, Role::System, Origin::Instructions, prompt, at);
}

fn user(log: &mut SessionBuilder, id: &str, data: &Value, at: Option<i64>) {
    let shown = non_empty_str(&data["transformedContent"]).or_else(|| non_empty_str(&data["content"])).unwrap_or("");
    let mut blocks: Vec<Block> = text(shown).into_iter().collect();
    for attachment in items(&data["attachments"]) {
        let mime = attachment["mimeType"].as_str().unwrap_or("");
        if attachment["type"] == "blob" || mime.starts_with("image/") {
            let source = non_empty_str(&attachment["data"])
                .map_or(MediaSource::Missing, |data| MediaSource::Base64(data.into()));
            blocks.push(Block::new(Content::Media(Media { mime: mime.into(), name: None, source })));
        }
    }
    let typed = matches!(data["source"].as_str(), None | Some("" | "user"));
    let origin = if typed { Origin::Typed } else { Origin::Injected };
    let mut user = Message::new(id, Role::User, origin, blocks);
    // The event has what was typed beside what the model was shown.
    let said = data["content"].as_str().unwrap_or("").trim();
    let place = |part: Range<usize>| Some(part.start + shown[part].find(said)?);
    let start = speaker::typed_parts(shown).into_iter().find_map(place).filter(|_| !said.is_empty());
    if let (Some(block), Some(start), true) = (user.blocks.first_mut(), start, typed) {
        block.typed = Some(vec![(start..start + said.len()).into()]);
    }
    user.timestamp = at;
    log.push(user);
}

fn assistant(log: &mut SessionBuilder, id: &str, data: &Value, at: Option<i64>) {
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(thinking(data["reasoningText"].as_str().unwrap_or(""), data["reasoningOpaque"].as_str()));
    blocks.extend(content(&data["content"], epitome_session::Dialect::OpenaiChat));
    for call in items(&data["toolRequests"]) {
        let (id, name) = (call["toolCallId"].as_str().unwrap_or(""), call["name"].as_str().unwrap_or(""));
        blocks.push(log.call(id, name, arguments(&call["arguments"])));
    }
    let mut turn =
        Message::new(non_empty_str(&data["messageId"]).unwrap_or(id), Role::Assistant, Origin::Model, blocks);
    turn.timestamp = at;
    log.push(turn);
}

fn result(log: &mut SessionBuilder, id: &str, data: &Value, at: Option<i64>) {
    let shown = match (&data["result"]["content"], &data["error"]["message"]) {
        (Value::Null, Value::Null) if data["result"].is_null() => &data["error"],
        (Value::Null, Value::Null) => &data["result"],
        (Value::Null, message) => message,
        (content, _) => content,
    };
    let answer = Answer {
        call_id: data["toolCallId"].as_str().unwrap_or(""),
        name: data["toolName"].as_str(),
        payload: payload(shown),
        is_error: data["success"] == Value::Bool(false),
    };
    let mut message = log.answer(id, answer, at);
    // The event says whether a person answered.
    if data["toolTelemetry"]["properties"]["outcome"] != "answered" {
        message.blocks.iter_mut().for_each(|block| block.typed = Some(Vec::new()));
    }
    log.push(message);
}
