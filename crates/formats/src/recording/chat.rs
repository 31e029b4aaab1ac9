//! Messages in the roles of OpenAI's chat completions, as evaluation harnesses record them.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Block, Dialect, Message, Origin, Role, Usage};
use serde_json::Value;

use crate::json::value::{arguments, id, items, non_empty_str};
use crate::openai_chat::blocks::text_call;
use crate::recording::content::{content, payload, thinking};
use crate::recording::session_builder::{Answer, SessionBuilder};
use crate::time;

/// Appends a message by its role alone: every user message is taken as typed.
pub(crate) fn push(log: &mut SessionBuilder, message: &Value) {
    match message["role"].as_str() {
        Some("assistant") => {
            let turn = assistant(log, message);
            log.push(turn);
        }
        Some("tool" | "function") => {
            let result = result(log, message);
            log.push(result);
        }
        Some(role @ ("system" | "developer")) => {
            let origin = if role == "developer" { Origin::Developer } else { Origin::Instructions };
            log.push(plain(message, Role::System, origin));
        }
        Some("user") => {
            log.push(plain(message, Role::User, Origin::Typed));
        }
        _ => {}
    }
}

/// A message of text and images.
pub(crate) fn plain(message: &Value, role: Role, origin: Origin) -> Message {
    let mut plain = Message::new(id(&message["id"]), role, origin, content(&message["content"], Dialect::OpenaiChat));
    plain.name = non_empty_str(&message["name"]).map(Arc::from);
    plain.timestamp = time::of_value(&message["timestamp"]);
    plain
}

/// An assistant's message: reasoning, text, calls.
pub(crate) fn assistant(log: &mut SessionBuilder, message: &Value) -> Message {
    let mut blocks: Vec<Block> = items(&message["thinking_blocks"])
        .iter()
        .filter_map(|part| crate::recording::content::block(part, Dialect::OpenaiChat))
        .collect();
    if blocks.is_empty() {
        let reasoning = non_empty_str(&message["reasoning_content"]).or_else(|| non_empty_str(&message["reasoning"]));
        blocks.extend(reasoning.and_then(|text| thinking(text, None)));
    }
    blocks.extend(content(&message["content"], Dialect::OpenaiChat));
    for call in items(&message["tool_calls"]) {
        blocks.extend(call_block(log, call));
    }
    if message["function_call"].is_object() {
        blocks.extend(call_block(log, &message["function_call"]));
    }
    let mut turn = Message::new(id(&message["id"]), Role::Assistant, Origin::Model, blocks);
    turn.name = non_empty_str(&message["name"]).map(Arc::from);
    turn.timestamp = time::of_value(&message["timestamp"]);
    turn
}

/// A call: the standard shape with `function`, or name and arguments directly.
fn call_block(log: &mut SessionBuilder, call: &Value) -> Option<Block> {
    let function = if call["function"].is_object() { &call["function"] } else { call };
    let name = function["name"].as_str()?;
    Some(log.call(&id(&call["id"]), name, arguments(&function["arguments"])))
}

/// A tool's message.
pub(crate) fn result(log: &mut SessionBuilder, message: &Value) -> Message {
    let call_id = match non_empty_str(&message["tool_call_id"]) {
        Some(id) => id,
        None => items(&message["tool_call_ids"]).first().and_then(Value::as_str).unwrap_or(""),
    };
    let answer = Answer {
        call_id,
        name: non_empty_str(&message["name"]),
        payload: payload(&message["content"]),
        is_error: false,
    };
    log.answer(&id(&message["id"]), answer, time::of_value(&message["timestamp"]))
}

/// Usage as OpenAI-compatible providers report it.
pub(crate) fn usage(usage: &Value) -> Option<Usage> {
    Some(Usage {
        input: usage["prompt_tokens"].as_u64()?,
        cache_read: usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
        cache_write: 0,
        output: usage["completion_tokens"].as_u64().unwrap_or(0),
    })
}

/// Marks `range` of a block's text as the arguments of a call, unless it is empty or beyond 4 GiB.
pub(crate) fn mark_call(message: &mut Message, name: &str, block: usize, range: Range<usize>) {
    message.text_calls.extend(text_call(Arc::from(name), block, range));
}
