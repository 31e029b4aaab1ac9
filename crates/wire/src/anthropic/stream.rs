//! Anthropic's streams.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Anthropic;
use crate::events::{Event, typed_event};
use crate::merge::{MergedAnswer, PartialAnswer};
use crate::stream::{Stage, StreamedAnswer, Streams, Taken, push_text};
use crate::usage::add_known;

impl Streams for Anthropic {
    fn take(&self, answer: &mut StreamedAnswer, event: &Event) -> Taken {
        let json = &event.json;
        let number = json["index"].as_u64().unwrap_or(0) as usize;
        match json["type"].as_str().unwrap_or_default() {
            "message_start" => answer.usage = json["message"]["usage"].clone(),
            "content_block_start" => {
                *answer.part(number) = json["content_block"].clone();
                return Taken::of_part(number, 0);
            }
            "content_block_delta" => return Taken::of_part(number, add_delta(answer, number, &json["delta"])),
            "content_block_stop" => {
                if let Some(arguments) = answer.arguments.remove(&number) {
                    // Arguments that are no JSON are answered with what is wrong with them.
                    answer.part(number)["input"] = serde_json::from_str(&arguments).unwrap_or_else(|_| json!({}));
                }
                return Taken::of_part(number, 0);
            }
            "message_delta" => {
                answer.add_usage(&json["usage"]);
                if !json["delta"]["stop_reason"].is_null() {
                    answer.stop = json["delta"]["stop_reason"].clone();
                }
                return Taken::at(Stage::Ending);
            }
            "message_stop" => {
                answer.is_over = true;
                return Taken::at(Stage::Ending);
            }
            "error" => return Taken::at(Stage::Broken),
            _ => {}
        }
        Taken::default()
    }

    fn whole(&self, answer: &StreamedAnswer, output: Value) -> Value {
        json!({"content": output, "stop_reason": answer.stop, "usage": answer.usage})
    }

    fn error_event(&self, message: &str) -> Bytes {
        typed_event("error", json!({"error": {"type": "api_error", "message": message}}))
    }

    fn for_client(&self, merged: &mut MergedAnswer, partial: &mut PartialAnswer<'_>, json: &mut Value) -> bool {
        match json["type"].as_str().unwrap_or_default() {
            "message_start" => return !partial.continues,
            "message_delta" => {
                if partial.continues {
                    json["usage"] = partial.answer.usage.clone();
                }
                if let Some(usage) = json.get_mut("usage") {
                    add_known(usage, &merged.earlier);
                }
                if json["delta"]["stop_reason"] == "tool_use" && !partial.has_calls_of_client() {
                    json["delta"]["stop_reason"] = "end_turn".into();
                }
            }
            _ => {
                if let Some(number) = json["index"].as_u64() {
                    json["index"] = merged.numbered(partial, number as usize).into();
                }
            }
        }
        true
    }
}

/// Adds a piece of a block; returns the characters of what the model says in it.
fn add_delta(answer: &mut StreamedAnswer, number: usize, delta: &Value) -> usize {
    if let Some(piece) = delta["partial_json"].as_str() {
        answer.arguments.entry(number).or_default().push_str(piece);
        return 0;
    }
    let mut said = 0;
    for field in ["text", "thinking", "signature"] {
        if let Some(piece) = delta[field].as_str() {
            let characters = push_text(&mut answer.part(number)[field], piece);
            said += if field == "text" { characters } else { 0 };
        }
    }
    if !delta["citation"].is_null() {
        let citation = delta["citation"].clone();
        match &mut answer.part(number)["citations"] {
            Value::Array(citations) => citations.push(citation),
            none => *none = json!([citation]),
        }
    }
    said
}
