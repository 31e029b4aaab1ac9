//! Answers in the form of OpenAI's Responses.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use epitome_fit::conversation::Figures;
use serde_json::{Value, json};

use super::fields::RequestFields;
use super::item::id_of;
use crate::proxy::lookup::event_text;

/// The item with what was sealed.
pub(super) fn item(sealed: &str) -> Value {
    json!({ "type": "compaction", "id": id_of("cmp_", sealed), "encrypted_content": sealed })
}

/// The answer to a compaction trigger: the item and nothing else.
pub(super) fn response(fields: &RequestFields<'_>, item: &Value, figures: Figures) -> Response {
    let created_at = seconds();
    let id = id_of("resp_", item["encrypted_content"].as_str().unwrap_or_default());
    let response = |status: &str, output: Value, usage: Value| {
        let given = |name: &str, default: Value| match fields.value(name) {
            Value::Null => default,
            value => value,
        };
        json!({
            "id": id, "object": "response", "created_at": created_at, "status": status, "background": false,
            "error": null, "incomplete_details": null, "instructions": given("instructions", Value::Null),
            "metadata": given("metadata", json!({})), "model": given("model", json!("")), "output": output,
            "parallel_tool_calls": given("parallel_tool_calls", json!(true)), "previous_response_id": null,
            "store": false, "temperature": given("temperature", Value::Null),
            "tool_choice": given("tool_choice", json!("auto")), "tools": given("tools", json!([])),
            "top_p": given("top_p", Value::Null), "usage": usage,
        })
    };
    let whole = response("completed", json!([item]), usage(figures));
    if fields.json("stream") != Some("true") {
        return json_response(&whole);
    }
    let begun = response("in_progress", json!([]), Value::Null);
    let empty = json!({ "type": "compaction", "id": item["id"], "encrypted_content": "" });
    let events = [
        ("response.created", json!({ "response": begun })),
        ("response.in_progress", json!({ "response": begun })),
        ("response.output_item.added", json!({ "output_index": 0, "item": empty })),
        ("response.output_item.done", json!({ "output_index": 0, "item": item })),
        ("response.completed", json!({ "response": whole })),
    ];
    let text = events.into_iter().enumerate().map(|(number, (name, data))| event(name, number as u64, data));
    stream_response(text.flatten().collect())
}

/// The answer to `POST …/responses/compact`: the messages of users as they came, and the item.
pub(super) fn compaction(users: &[&str], item: &Value, figures: Figures) -> Response {
    let mut output: Vec<Value> = users.iter().map(|json| user_message(json)).collect();
    output.push(item.clone());
    let sealed = item["encrypted_content"].as_str().unwrap_or_default();
    json_response(&json!({
        "id": id_of("resp_", sealed), "object": "response.compaction", "created_at": seconds(), "output": output,
        "usage": usage(figures),
    }))
}

/// A user's message as an answer has it.
fn user_message(json: &str) -> Value {
    let came: Value = serde_json::from_str(json).unwrap_or_default();
    let content = match &came["content"] {
        Value::String(text) => json!([{ "type": "input_text", "text": text }]),
        other => other.clone(),
    };
    let id = came["id"].as_str().map_or_else(|| id_of("msg_", json), str::to_owned);
    json!({ "type": "message", "id": id, "role": "user", "status": "completed", "content": content })
}

/// The tokens that were read and are left, as a compaction's usage.
fn usage(figures: Figures) -> Value {
    let (before, after) = (figures.tokens_before, figures.tokens_after);
    json!({
        "input_tokens": before, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
        "output_tokens": after, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": before.saturating_add(after),
    })
}

/// The event `name` with its type and its number.
pub(super) fn event(name: &str, number: u64, data: Value) -> Bytes {
    let mut whole = json!({ "type": name, "sequence_number": number });
    if let (Value::Object(whole), Value::Object(data)) = (&mut whole, data) {
        whole.extend(data);
    }
    event_text(Some(name), &whole)
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// An answer in one piece.
pub(super) fn json_response(json: &Value) -> Response {
    with_type(Body::from(json.to_string()), "application/json")
}

/// An answer as a stream of events.
pub(super) fn stream_response(events: Vec<u8>) -> Response {
    with_type(Body::from(events), "text/event-stream")
}

fn with_type(body: Body, kind: &'static str) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
