//! Streams of Responses.

use bytes::Bytes;
use serde_json::{Value, json};

use super::OpenaiResponses;
use crate::answer::Answers;
use crate::events::{Event, is_opening, typed_event};
use crate::merge::{MergedAnswer, PartialAnswer};
use crate::stream::{Stage, StreamedAnswer, Streams, Taken, push_text};
use crate::usage::add_known;

impl Streams for OpenaiResponses {
    fn take(&self, answer: &mut StreamedAnswer, event: &Event) -> Taken {
        let json = &event.json;
        let number = json["output_index"].as_u64().map(|number| number as usize);
        let mut said = 0;
        match json["type"].as_str().unwrap_or_default() {
            "response.output_item.added" | "response.output_item.done" => {
                *answer.part(number.unwrap_or(0)) = json["item"].clone();
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                end(answer, &json["response"]);
                let stage = if json["type"] == "response.failed" { Stage::Broken } else { Stage::Ending };
                return Taken { stage, parts: (0..answer.parts.len()).collect(), ..Taken::default() };
            }
            "error" => return Taken::at(Stage::Broken),
            "response.output_text.delta" => {
                let piece = json["delta"].as_str().unwrap_or_default();
                said = add_text(answer.part(number.unwrap_or(0)), piece);
            }
            _ => {}
        }
        Taken { said, parts: number.into_iter().collect(), ..Taken::default() }
    }

    fn whole(&self, answer: &StreamedAnswer, output: Value) -> Value {
        let mut whole = answer.message.clone();
        whole["output"] = output;
        whole["usage"] = answer.usage.clone();
        whole
    }

    fn error_event(&self, message: &str) -> Bytes {
        typed_event("error", json!({"code": "server_error", "message": message, "param": null}))
    }

    fn for_client(&self, merged: &mut MergedAnswer, partial: &mut PartialAnswer<'_>, json: &mut Value) -> bool {
        if partial.continues && is_opening(json) {
            return false;
        }
        if let Some(number) = json["output_index"].as_u64() {
            json["output_index"] = merged.numbered(partial, number as usize).into();
        }
        if let Some(number) = json["sequence_number"].as_u64() {
            let number = *merged.sequence.get_or_insert(number);
            json["sequence_number"] = number.into();
            merged.sequence = Some(number + 1);
        }
        if let Some(usage) = json.pointer_mut("/response/usage") {
            add_known(usage, &merged.earlier);
        }
        let output = json.pointer_mut("/response/output").and_then(Value::as_array_mut);
        if let Some(output) = output.filter(|_| partial.answer.is_over) {
            output.retain(|item| !self.is_call_of(item, partial.names));
            output.splice(0..0, merged.items.iter().cloned());
        }
        true
    }

    fn repeats_answer(&self) -> bool {
        true
    }
}

/// Takes note of the last event, which repeats the answer. Some services leave the items out of it, and some have sent none
/// before.
fn end(answer: &mut StreamedAnswer, response: &Value) {
    answer.is_over = true;
    answer.usage = response["usage"].clone();
    let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
    if output.len() >= answer.parts.len() {
        answer.parts = output.to_vec();
    }
    let beside = response.as_object().into_iter().flatten().filter(|(name, _)| *name != "output");
    answer.message = beside.map(|(name, value)| (name.clone(), value.clone())).collect();
}

/// Adds a piece of a text to its item, which comes whole at its end; some services send the pieces alone.
fn add_text(item: &mut Value, piece: &str) -> usize {
    if item.is_null() {
        *item = json!({"type": "message", "role": "assistant", "content": []});
    }
    if let Some(content) = item["content"].as_array_mut() {
        if content.is_empty() {
            content.push(json!({"type": "output_text", "text": ""}));
        }
        push_text(&mut content[0]["text"], piece);
    }
    piece.chars().count()
}
