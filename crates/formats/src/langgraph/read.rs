//! LangGraph threads: the state of a thread with its messages.

use epitome_session::{Block, Dialect, Message, Origin, Role, Usage};
use serde_json::Value;

use crate::json::value::{arguments, first_object, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::content::{block, content, payload, thinking};
use crate::recording::session_builder::{Answer, SessionBuilder};

/// The beginning of the message that LangChain's summarization middleware puts in place of the history.
const SUMMARY: &str = "Here is a summary of the conversation to date:";

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let is_message = |message: &Value| {
        matches!(message["type"].as_str(), Some("human" | "ai" | "tool" | "system"))
            && (!message["content"].is_null() || message["data"].is_object())
    };
    first_object(messages(&probe.document)).is_some_and(is_message)
}

fn messages(document: &Value) -> &Value {
    if document["values"].is_object() { &document["values"]["messages"] } else { &document["messages"] }
}

pub(crate) fn read(probe: &Probe<'_>, _: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let document = &probe.document;
    let thread = [
        &document["metadata"]["thread_id"],
        &document["checkpoint"]["thread_id"],
        &document["config"]["configurable"]["thread_id"],
    ];
    let id = thread.into_iter().find_map(non_empty_str).unwrap_or("");
    let mut log = SessionBuilder::new(id);
    for one in items(messages(document)) {
        // `messages_to_dict` keeps the fields one level deeper.
        let fields = if one["data"].is_object() { &one["data"] } else { one };
        message(&mut log, one["type"].as_str().unwrap_or(""), fields);
    }
    log.finish_alone(
        Format::Langgraph,
        if id.is_empty() { "0" } else { id },
        "no element of `values.messages` has a type and content",
    )
}

fn message(log: &mut SessionBuilder, kind: &str, fields: &Value) {
    let id = fields["id"].as_str().unwrap_or("");
    match kind {
        "human" | "HumanMessageChunk" => {
            let mut human =
                Message::new(id, Role::User, Origin::Typed, content(&fields["content"], Dialect::OpenaiChat));
            human.origin = origin(fields, &human);
            log.push(human);
        }
        "system" => {
            let blocks = content(&fields["content"], Dialect::OpenaiChat);
            log.push(Message::new(id, Role::System, Origin::Instructions, blocks));
        }
        "ai" | "AIMessageChunk" => model(log, id, fields),
        "tool" => {
            let answer = Answer {
                call_id: fields["tool_call_id"].as_str().unwrap_or(""),
                name: fields["name"].as_str(),
                payload: payload(&fields["content"]),
                is_error: fields["status"] == "error",
            };
            let result = log.answer(id, answer, None);
            log.push(result);
        }
        _ => {}
    }
}

fn origin(fields: &Value, human: &Message) -> Origin {
    let extra = &fields["additional_kwargs"];
    let text = human.plain_text();
    if extra["lc_source"] == "summarization" || text.starts_with(SUMMARY) {
        Origin::Summary
    } else if extra["hide_from_ui"] == Value::Bool(true) || text.trim_start().starts_with("<system") {
        Origin::Injected
    } else {
        Origin::Typed
    }
}

fn model(log: &mut SessionBuilder, id: &str, fields: &Value) {
    let mut blocks: Vec<Block> = Vec::new();
    let reasoning = non_empty_str(&fields["additional_kwargs"]["reasoning_content"]);
    blocks.extend(reasoning.and_then(|text| thinking(text, None)));
    match &fields["content"] {
        // Calls among the parts are repeated in `tool_calls`.
        Value::Array(parts) => {
            let is_call =
                |part: &Value| matches!(part["type"].as_str(), Some("tool_use" | "tool_call" | "function_call"));
            blocks
                .extend(parts.iter().filter(|part| !is_call(part)).filter_map(|part| block(part, Dialect::OpenaiChat)));
        }
        other => blocks.extend(content(other, Dialect::OpenaiChat)),
    }
    for call in items(&fields["tool_calls"]).iter().chain(items(&fields["invalid_tool_calls"])) {
        let (id, name) = (call["id"].as_str().unwrap_or(""), call["name"].as_str().unwrap_or(""));
        blocks.push(log.call(id, name, arguments(&call["args"])));
    }
    let mut turn = Message::new(id, Role::Assistant, Origin::Model, blocks);
    turn.name = non_empty_str(&fields["name"]).map(Into::into);
    turn.usage = usage(&fields["usage_metadata"]);
    log.push(turn);
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    Some(Usage {
        input: usage["input_tokens"].as_u64()?,
        cache_read: count(&usage["input_token_details"]["cache_read"]),
        cache_write: count(&usage["input_token_details"]["cache_creation"]),
        output: count(&usage["output_tokens"]),
    })
}
