//! Gemini CLI chats: one document, or in newer versions a line of metadata and a line per message; a call and its
//! result are one object.

use epitome_session::{Block, Dialect, Message, Origin, Role, Trigger, Usage};
use serde_json::Value;

use crate::json::value::{arguments, items, non_empty_str, shown};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Shape, Warning};
use crate::recording::content::{Payload, content, media, text, thinking};
use crate::recording::records::records;
use crate::recording::session_builder::{Answer, SessionBuilder, summary_message};
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let head = match &probe.shape {
        Shape::Document(_) => &probe.document,
        Shape::Lines(_) => probe.heads.first().unwrap_or(&Value::Null),
        Shape::Text(_) => return false,
    };
    head["sessionId"].is_string() && head["projectHash"].is_string()
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut log = SessionBuilder::default();
    for record in records(probe, warnings) {
        if let Some(id) = non_empty_str(&record["sessionId"]) {
            log.session.id = Some(id.into());
        }
        for one in items(&record["messages"]) {
            message(&mut log, one);
        }
        if record["$set"]["messages"].is_array() {
            replace_messages(&mut log, &record["$set"]["messages"]);
        } else if let Some(id) = non_empty_str(&record["$rewindTo"]) {
            rewind(&mut log, id);
        } else {
            message(&mut log, &record);
        }
    }
    let name = log.session.id.as_deref().unwrap_or("0").to_owned();
    log.finish_alone(Format::GeminiCli, name, "no element of `messages` is a `user` or `gemini` message with content")
}

fn message(log: &mut SessionBuilder, message: &Value) {
    match message["type"].as_str() {
        Some("user") => user(log, message),
        Some("gemini") => model(log, message),
        _ => {} // notices of the user interface
    }
}

fn user(log: &mut SessionBuilder, message: &Value) {
    let blocks = parts(&message["content"]);
    let mut user = Message::new(id(message), Role::User, Origin::Typed, blocks);
    if user.plain_text().trim_start().starts_with("<session_context>") {
        user.origin = Origin::Injected;
    }
    user.timestamp = time::of_value(&message["timestamp"]);
    log.push(user);
}

fn model(log: &mut SessionBuilder, message: &Value) {
    let mut blocks = Vec::new();
    for thought in items(&message["thoughts"]) {
        let (subject, description) = (shown(&thought["subject"]), shown(&thought["description"]));
        let separator = if subject.is_empty() || description.is_empty() { "" } else { ": " };
        blocks.extend(thinking(&format!("{subject}{separator}{description}"), thought["signature"].as_str()));
    }
    blocks.extend(parts(&message["content"]));
    let calls = items(&message["toolCalls"]);
    for call in calls {
        let (id, name) = (call["id"].as_str().unwrap_or(""), call["name"].as_str().unwrap_or(""));
        blocks.push(log.call(id, name, arguments(&call["args"])));
    }
    let mut turn = Message::new(id(message), Role::Assistant, Origin::Model, blocks);
    turn.timestamp = time::of_value(&message["timestamp"]);
    turn.usage = usage(&message["tokens"]);
    log.push(turn);
    for call in calls {
        result(log, call);
    }
}

fn result(log: &mut SessionBuilder, call: &Value) {
    let mut is_error = matches!(call["status"].as_str(), Some("error" | "cancelled"));
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    let recorded =
        if call["result"].is_array() { items(&call["result"]) } else { std::slice::from_ref(&call["result"]) };
    for part in recorded {
        let response = &part["functionResponse"]["response"];
        if let Some(media) = media(part) {
            attachments.push(media);
        } else if response["error"].is_null() {
            let shown_part =
                [&response["output"], response, &part["text"], part].into_iter().find(|one| !one.is_null());
            texts.extend(shown_part.map(shown));
        } else {
            is_error = true;
            texts.push(shown(&response["error"]));
        }
    }
    if texts.is_empty() && attachments.is_empty() {
        match non_empty_str(&call["resultDisplay"]) {
            Some(display) => texts.push(display.to_owned()),
            None => return, // never answered
        }
    }
    let answer = Answer {
        call_id: call["id"].as_str().unwrap_or(""),
        name: call["name"].as_str(),
        payload: Payload { text: texts.join("\n"), attachments },
        is_error,
    };
    let message = log.answer("", answer, time::of_value(&call["timestamp"]));
    log.push(message);
}

/// The client replaced its whole history: a compression. The replacement is read as the summary.
fn replace_messages(log: &mut SessionBuilder, messages: &Value) {
    let texts: Vec<String> =
        items(messages).iter().map(|message| join_texts(&message["content"])).filter(|text| !text.is_empty()).collect();
    let summary = (!texts.is_empty()).then(|| summary_message("", &texts.join("\n\n"), None));
    log.compact(Trigger::Recorded, |entry| entry.message.role != Role::System, summary, None);
}

/// The user went back: what followed the named message left the context with it.
fn rewind(log: &mut SessionBuilder, id: &str) {
    let from = log.session.view().iter().find(|entry| entry.message.id.as_str() == id).map(|entry| entry.position);
    if let Some(from) = from {
        log.compact(Trigger::Manual, |entry| entry.position >= from, None, None);
    }
}

fn join_texts(value: &Value) -> String {
    Message::new("", Role::User, Origin::Injected, parts(value)).plain_text()
}

/// Gemini's parts have no type: the present field shows it.
fn parts(value: &Value) -> Vec<Block> {
    match value {
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| match part["thought"] {
                Value::Bool(true) => thinking(part["text"].as_str().unwrap_or(""), part["thoughtSignature"].as_str()),
                _ => crate::recording::content::block(part, Dialect::OpenaiChat),
            })
            .collect(),
        Value::String(plain) => text(plain).into_iter().collect(),
        other => content(other, Dialect::OpenaiChat),
    }
}

fn id(message: &Value) -> &str {
    message["id"].as_str().unwrap_or("")
}

fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    Some(Usage {
        input: tokens["input"].as_u64()?,
        cache_read: count(&tokens["cached"]),
        cache_write: 0,
        output: count(&tokens["output"]).saturating_add(count(&tokens["thoughts"])),
    })
}
