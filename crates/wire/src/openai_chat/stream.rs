//! Streams of chat completions.

use bytes::Bytes;
use serde_json::{Value, json};

use super::OpenaiChat;
use crate::events::{Event, event_text};
use crate::merge::{MergedAnswer, PartialAnswer};
use crate::stream::{Stage, StreamedAnswer, Streams, Taken, push_text};
use crate::usage::add_known;

impl Streams for OpenaiChat {
    fn take(&self, answer: &mut StreamedAnswer, event: &Event) -> Taken {
        let json = &event.json;
        if event.is_done {
            answer.is_over = true;
            return Taken::at(Stage::Ending);
        }
        if !json["error"].is_null() {
            return Taken::at(Stage::Broken);
        }
        answer.add_usage(&json["usage"]);
        let Some(choice) = json["choices"].get(0) else {
            return if json.is_null() { Taken::default() } else { Taken::at(Stage::Ending) };
        };
        let delta = &choice["delta"];
        let said = add_fields(&mut answer.message, delta);
        let mut parts = Vec::new();
        for (at, piece) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let number = number_of(piece, at);
            let call = answer.part(number);
            add_call(call, piece);
            // A call without a name yet may still be anybody's.
            if call["function"]["name"] != "" {
                parts.push(number);
            }
        }
        let is_ending = !choice["finish_reason"].is_null();
        if is_ending {
            answer.stop = choice["finish_reason"].clone();
        }
        let stage = if is_ending { Stage::Ending } else { Stage::Going };
        Taken { stage, said, parts, says_more: !delta["role"].is_null() }
    }

    fn whole(&self, answer: &StreamedAnswer, output: Value) -> Value {
        json!({"choices": [{"message": output, "finish_reason": answer.stop}], "usage": answer.usage})
    }

    fn error_event(&self, message: &str) -> Bytes {
        event_text(None, &json!({"error": {"type": "server_error", "code": null, "message": message}}))
    }

    fn for_client(&self, merged: &mut MergedAnswer, partial: &mut PartialAnswer<'_>, json: &mut Value) -> bool {
        if let Some(usage) = json.get_mut("usage") {
            add_known(usage, &merged.earlier);
        }
        let Some(choice) = json.get_mut("choices").and_then(|choices| choices.get_mut(0)) else { return true };
        let says_anything = choice.get_mut("delta").is_none_or(|delta| delta_for_client(merged, partial, delta));
        if choice["finish_reason"] == "tool_calls" && !partial.has_calls_of_client() {
            choice["finish_reason"] = "stop".into();
        }
        says_anything || !choice["finish_reason"].is_null()
    }
}

/// Takes the pieces of our calls out, and numbers the others; whether anything is left.
fn delta_for_client(merged: &mut MergedAnswer, partial: &mut PartialAnswer<'_>, delta: &mut Value) -> bool {
    let Some(pieces) = delta.get_mut("tool_calls").and_then(Value::as_array_mut) else { return true };
    let mut shown = Vec::new();
    for (at, mut piece) in pieces.drain(..).enumerate() {
        let number = number_of(&piece, at);
        if partial.ours.contains(&number) {
            continue;
        }
        if piece["index"].is_u64() {
            piece["index"] = merged.numbered(partial, number).into();
        }
        shown.push(piece);
    }
    *pieces = shown;
    if !pieces.is_empty() {
        return true;
    }
    let Some(delta) = delta.as_object_mut() else { return true };
    delta.shift_remove("tool_calls");
    delta.values().any(|value| !value.is_null() && value != "")
}

/// The number of a piece of a call, by its place in the event; some providers leave it out.
fn number_of(piece: &Value, at: usize) -> usize {
    piece["index"].as_u64().map_or(at, |number| number as usize)
}

/// Adds a piece of a message; returns the characters of what the model says in it.
fn add_fields(message: &mut Value, delta: &Value) -> usize {
    let mut said = 0;
    for (field, piece) in delta.as_object().into_iter().flatten() {
        match (field.as_str(), piece) {
            ("role" | "tool_calls", _) | (_, Value::Null) => {}
            (field, Value::String(piece)) => {
                let characters = push_text(&mut message[field], piece);
                said += if field == "content" { characters } else { 0 };
            }
            (field, Value::Array(items)) if message[field].is_array() => {
                message[field].as_array_mut().into_iter().for_each(|known| known.extend(items.iter().cloned()));
            }
            (field, other) => message[field] = other.clone(),
        }
    }
    said
}

/// Adds a piece of a call.
fn add_call(call: &mut Value, piece: &Value) {
    if call.is_null() {
        *call = json!({"id": "", "type": "function", "function": {"name": "", "arguments": ""}});
    }
    for (field, value) in piece.as_object().into_iter().flatten() {
        match (field.as_str(), value) {
            ("index" | "function", _) | (_, Value::Null) => {}
            (field, value) => call[field] = value.clone(),
        }
    }
    for field in ["name", "arguments"] {
        if let Some(text) = piece["function"][field].as_str() {
            push_text(&mut call["function"][field], text);
        }
    }
}
