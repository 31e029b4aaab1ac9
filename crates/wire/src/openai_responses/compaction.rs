//! Compactions of OpenAI's Responses: the items that stand for messages, and how a client asks for one.

use bytes::Bytes;
use serde_json::{Value, json};

use super::OpenaiResponses;
use crate::compaction::{
    AnswerBody, CompactionRequest, Compactions, ItemPlace, MadeCompaction, RequestedCompaction, has_other_field,
    history_elsewhere, tokens,
};
use crate::events::{Event, typed_event};
use crate::json::Object;
use crate::request::Route;

/// The number of events that an item takes.
const EVENTS_OF_ITEM: u64 = 2;

impl Compactions for OpenaiResponses {
    fn asked(&self, route: Route, fields: &Object<'_>, items: &[&str]) -> RequestedCompaction {
        match route {
            Route::Conversation => {}
            Route::Compactions => return asked_of_endpoint(fields, items),
            Route::Counting => return RequestedCompaction::Nothing,
        }
        let triggers = items.iter().filter(|item| self.is_trigger(item)).count();
        if triggers > 0 {
            let is_last = items.last().is_some_and(|item| self.is_trigger(item));
            return match history_elsewhere(fields) {
                Some(code) => RequestedCompaction::Provider(code),
                None if !is_last || triggers > 1 => RequestedCompaction::Provider("trigger-in-the-middle"),
                // The answer could be named later, and continued at the provider, which would not know it.
                None if fields.get("store") != Some("false") => RequestedCompaction::Provider("stored-at-the-provider"),
                None => RequestedCompaction::Here(CompactionRequest::Trigger),
            };
        }
        let Some(config) = fields.get("context_management") else { return RequestedCompaction::Nothing };
        history_elsewhere(fields).map_or_else(|| asked_at_threshold(config), RequestedCompaction::Provider)
    }

    fn is_trigger(&self, item: &str) -> bool {
        item.contains("compaction_trigger")
            && serde_json::from_str::<Value>(item).is_ok_and(|item| item["type"] == "compaction_trigger")
    }

    fn keeps_messages_in_front(&self) -> bool {
        true
    }

    fn compaction_item(&self, id: &str, sealed: &str, _shown: Option<&str>) -> Value {
        json!({ "type": "compaction", "id": id, "encrypted_content": sealed })
    }

    fn item_events(&self, item: &Value, number: u64) -> Vec<u8> {
        let empty = json!({ "type": "compaction", "id": item["id"], "encrypted_content": "" });
        let events = [
            event("response.output_item.added", number, json!({ "output_index": 0, "item": empty })),
            event("response.output_item.done", number + 1, json!({ "output_index": 0, "item": item })),
        ];
        events.concat()
    }

    fn item_place(&self, event: &Event) -> ItemPlace {
        let is_of_answer = event.json["type"].as_str().is_some_and(|kind| kind.starts_with("response."));
        if is_of_answer && !event.is_opening() { ItemPlace::InFront } else { ItemPlace::Later }
    }

    fn count_from_behind(&self, item: &Value, json: &mut Value) {
        for (name, by) in [("output_index", 1), ("sequence_number", EVENTS_OF_ITEM)] {
            if let Some(number) = json[name].as_u64() {
                json[name] = (number + by).into();
            }
        }
        if let Some(output) = json.pointer_mut("/response/output").and_then(Value::as_array_mut) {
            output.insert(0, item.clone());
        }
    }

    fn compaction_answer(&self, demand: CompactionRequest, made: &MadeCompaction<'_>) -> AnswerBody {
        if demand == CompactionRequest::Endpoint {
            return AnswerBody::Json(list(made));
        }
        let whole = response(made, "completed", json!([made.item]), usage(made));
        if !made.is_streamed() {
            return AnswerBody::Json(whole);
        }
        let begun = json!({ "response": response(made, "in_progress", json!([]), Value::Null) });
        let events = [
            event("response.created", 0, begun.clone()).to_vec(),
            event("response.in_progress", 1, begun).to_vec(),
            self.item_events(made.item, 2),
            event("response.completed", 2 + EVENTS_OF_ITEM, json!({ "response": whole })).to_vec(),
        ];
        AnswerBody::Events(events.concat())
    }
}

/// What a request to `…/responses/compact` asks for.
fn asked_of_endpoint(fields: &Object<'_>, items: &[&str]) -> RequestedCompaction {
    match history_elsewhere(fields) {
        Some(code) => RequestedCompaction::Provider(code),
        None if items.is_empty() => RequestedCompaction::Provider("one-text"),
        None => RequestedCompaction::Here(CompactionRequest::Endpoint),
    }
}

fn asked_at_threshold(config: &str) -> RequestedCompaction {
    let entries: Vec<Value> = serde_json::from_str(config).unwrap_or_default();
    let [entry] = &entries[..] else { return RequestedCompaction::Provider("not-understood") };
    if has_other_field(entry, &["type", "compact_threshold"]) || entry["type"] != "compaction" {
        return RequestedCompaction::Provider("not-understood");
    }
    match tokens(&entry["compact_threshold"]) {
        // Without a threshold the provider has its own, which nobody else knows.
        None => RequestedCompaction::Provider("no-threshold"),
        Some(from_tokens) => RequestedCompaction::Here(CompactionRequest::Threshold { from_tokens }),
    }
}

/// The answer to a compaction trigger: the item and nothing else.
fn response(made: &MadeCompaction<'_>, status: &str, output: Value, usage: Value) -> Value {
    let given = |name: &str, default: Value| match made.fields.value(name) {
        Value::Null => default,
        value => value,
    };
    json!({
        "id": made.answer_id("resp_"), "object": "response", "created_at": made.seconds, "status": status,
        "background": false, "error": null, "incomplete_details": null,
        "instructions": given("instructions", Value::Null), "metadata": given("metadata", json!({})),
        "model": given("model", json!("")), "output": output,
        "parallel_tool_calls": given("parallel_tool_calls", json!(true)), "previous_response_id": null,
        "store": false, "temperature": given("temperature", Value::Null),
        "tool_choice": given("tool_choice", json!("auto")), "tools": given("tools", json!([])),
        "top_p": given("top_p", Value::Null), "usage": usage,
    })
}

/// The answer to `POST …/responses/compact`: the messages of users as they came, and the item.
fn list(made: &MadeCompaction<'_>) -> Value {
    let mut output: Vec<Value> = made.users.iter().map(|json| user_message(json, made.id)).collect();
    output.push(made.item.clone());
    json!({
        "id": made.answer_id("resp_"), "object": "response.compaction", "created_at": made.seconds, "output": output,
        "usage": usage(made),
    })
}

/// A user's message as an answer has it.
fn user_message(json: &str, id: fn(&str, &str) -> String) -> Value {
    let came: Value = serde_json::from_str(json).unwrap_or_default();
    let content = match &came["content"] {
        Value::String(text) => json!([{ "type": "input_text", "text": text }]),
        other => other.clone(),
    };
    let id = came["id"].as_str().map_or_else(|| id("msg_", json), str::to_owned);
    json!({ "type": "message", "id": id, "role": "user", "status": "completed", "content": content })
}

/// The tokens that were read and are left, as a compaction's usage.
fn usage(made: &MadeCompaction<'_>) -> Value {
    let (before, after) = (made.before, made.after);
    json!({
        "input_tokens": before, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
        "output_tokens": after, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": before.saturating_add(after),
    })
}

/// The event `name` with its type and its number.
fn event(name: &str, number: u64, data: Value) -> Bytes {
    let mut numbered = json!({ "sequence_number": number });
    if let (Value::Object(numbered), Value::Object(data)) = (&mut numbered, data) {
        numbered.extend(data);
    }
    typed_event(name, numbered)
}
