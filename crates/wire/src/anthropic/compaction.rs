//! Anthropic's compactions: the blocks that stand for messages, and how a client asks for one.

use serde_json::{Value, json};

use super::Anthropic;
use crate::compaction::{
    AnswerBody, COMPACT_EDIT, CompactionRequest, Compactions, InvalidCompactionRequest, ItemPlace, MadeCompaction,
    RequestedCompaction, has_other_field, history_elsewhere, tokens,
};
use crate::events::{Event, typed_event};
use crate::json::Object;
use crate::request::Route;

/// The threshold of the edit where the request names none, in input tokens: the provider's own.
const EDIT_DEFAULT: u32 = 150_000;

impl Compactions for Anthropic {
    fn asked(&self, route: Route, fields: &Object<'_>, messages: &[&str]) -> RequestedCompaction {
        if route != Route::Conversation {
            return RequestedCompaction::Nothing;
        }
        let config = fields.value("context_management");
        if fields.is_given("compaction") {
            return asked_on_demand(fields, &config, messages);
        }
        let edits = config["edits"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ours: Vec<&Value> = edits.iter().filter(|edit| edit["type"] == COMPACT_EDIT).collect();
        match ours[..] {
            [] => RequestedCompaction::Nothing,
            [edit] => history_elsewhere(fields).map_or_else(|| asked_by_edit(edit), RequestedCompaction::Provider),
            _ => RequestedCompaction::Provider("not-understood"),
        }
    }

    fn compacts_in_text(&self) -> bool {
        true
    }

    fn shown(&self, messages: &[&str]) -> Option<String> {
        Some(conversation_text(messages))
    }

    fn compaction_item(&self, _id: &str, sealed: &str, shown: Option<&str>) -> Value {
        json!({ "type": "compaction", "content": shown, "encrypted_content": sealed })
    }

    fn item_events(&self, block: &Value, _number: u64) -> Vec<u8> {
        // Clients take what is opaque from the beginning or from the delta, as they were written.
        let sealed = &block["encrypted_content"];
        let empty = json!({ "type": "compaction", "content": "", "encrypted_content": sealed });
        let delta = json!({ "type": "compaction_delta", "content": block["content"], "encrypted_content": sealed });
        let events = [
            typed_event("content_block_start", json!({ "index": 0, "content_block": empty })),
            typed_event("content_block_delta", json!({ "index": 0, "delta": delta })),
            typed_event("content_block_stop", json!({ "index": 0 })),
        ];
        events.concat()
    }

    fn item_place(&self, event: &Event) -> ItemPlace {
        if event.json["type"] == "message_start" { ItemPlace::Behind } else { ItemPlace::Later }
    }

    fn count_from_behind(&self, _item: &Value, json: &mut Value) {
        if let Some(index) = json["index"].as_u64() {
            json["index"] = (index + 1).into();
        }
    }

    fn compaction_answer(&self, _demand: CompactionRequest, made: &MadeCompaction<'_>) -> AnswerBody {
        let usage = json!({
            "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "iterations": [{
                "type": "compaction", "input_tokens": made.before, "output_tokens": made.after,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            }],
        });
        let (id, model) = (made.answer_id("msg_"), made.fields.value("model"));
        let message = |content: Value, stop: Value| {
            json!({
                "id": id, "type": "message", "role": "assistant", "model": model, "content": content,
                "stop_reason": stop, "stop_sequence": null, "usage": usage,
            })
        };
        if !made.is_streamed() {
            return AnswerBody::Json(message(json!([made.item]), json!("compaction")));
        }
        let ending = json!({ "delta": { "stop_reason": "compaction", "stop_sequence": null }, "usage": usage });
        let events = [
            typed_event("message_start", json!({ "message": message(json!([]), Value::Null) })).to_vec(),
            self.item_events(made.item, 0),
            typed_event("message_delta", ending).to_vec(),
            typed_event("message_stop", json!({})).to_vec(),
        ];
        AnswerBody::Events(events.concat())
    }

    fn invalid_request(&self, code: &str, _place: &str, message: &str) -> Value {
        let mut error = json!({ "type": "invalid_request_error", "message": message });
        if code.starts_with("compaction_") {
            error["details"] = json!({ "error_code": code });
        }
        json!({ "type": "error", "error": error })
    }
}

fn asked_by_edit(edit: &Value) -> RequestedCompaction {
    let trigger = &edit["trigger"];
    let from_tokens = if trigger.is_null() { Some(EDIT_DEFAULT) } else { tokens(&trigger["value"]) };
    let is_known = trigger.is_null() || trigger["type"] == "input_tokens";
    let pauses = match &edit["pause_after_compaction"] {
        Value::Null => Some(false),
        other => other.as_bool(),
    };
    let has_other = has_other_field(edit, &["type", "trigger", "pause_after_compaction", "instructions"]);
    match (from_tokens, pauses) {
        _ if has_other || !is_known => RequestedCompaction::Provider("not-understood"),
        _ if has_words(&edit["instructions"]) => RequestedCompaction::Provider("instructions"),
        (Some(from_tokens), Some(pauses)) => RequestedCompaction::Here(CompactionRequest::Edit { from_tokens, pauses }),
        _ => RequestedCompaction::Provider("not-understood"),
    }
}

fn asked_on_demand(fields: &Object<'_>, context_management: &Value, messages: &[&str]) -> RequestedCompaction {
    let config = fields.value("compaction");
    if has_other_field(&config, &["type", "instructions"]) || config["type"] != "summarize" {
        return RequestedCompaction::Provider("not-understood");
    }
    if let Some(code) = history_elsewhere(fields) {
        return RequestedCompaction::Provider(code);
    }
    if !context_management.is_null() {
        return RequestedCompaction::Wrong(InvalidCompactionRequest::Both);
    }
    // How it is to be written: the rules would not keep to it, and a model of the provider does.
    if has_words(&config["instructions"]) {
        return RequestedCompaction::Provider("instructions");
    }
    let Some(newest) = messages.last() else {
        return RequestedCompaction::Wrong(InvalidCompactionRequest::NothingToSummarize);
    };
    let newest: Value = serde_json::from_str(newest).unwrap_or_default();
    let calls = |block: &Value| matches!(block["type"].as_str(), Some("tool_use" | "server_tool_use" | "mcp_tool_use"));
    let is_open = newest["role"] == "assistant"
        && newest["content"].as_array().and_then(|blocks| blocks.last()).is_some_and(calls);
    if is_open {
        RequestedCompaction::Wrong(InvalidCompactionRequest::IncompleteTurn)
    } else {
        RequestedCompaction::Here(CompactionRequest::Summarize)
    }
}

/// Whether there are instructions. What is not a text is the provider's to understand, or to refuse.
fn has_words(instructions: &Value) -> bool {
    match instructions {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// The compacted conversation as a text for people, and for services that cannot read the rest of the block: who said
/// what, in order. Linear.
fn conversation_text(messages: &[&str]) -> String {
    let mut text = String::from("The conversation so far, compacted.\n");
    for json in messages {
        let message: Value = serde_json::from_str(json).unwrap_or_default();
        text.push_str(&format!("\n[{}]\n", message["role"].as_str().unwrap_or("user")));
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|block| show_block(&mut text, block)),
            content => show_line(&mut text, "", content.as_str().unwrap_or_default()),
        }
    }
    text
}

fn show_block(text: &mut String, block: &Value) {
    match block["type"].as_str().unwrap_or_default() {
        "text" => show_line(text, "", block["text"].as_str().unwrap_or_default()),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let call = format!("{} {}", block["name"].as_str().unwrap_or_default(), block["input"]);
            show_line(text, "called ", &call);
        }
        "tool_result" | "mcp_tool_result" => match &block["content"] {
            Value::Array(parts) => parts.iter().for_each(|part| match part["text"].as_str() {
                Some(said) => show_line(text, "result: ", said),
                None => show_line(text, "result: ", &kind_of(part)),
            }),
            content => show_line(text, "result: ", content.as_str().unwrap_or_default()),
        },
        // What only the model that wrote it can read.
        "thinking" | "redacted_thinking" => {}
        _ => show_line(text, "", &kind_of(block)),
    }
}

/// What stands for a part that is not text.
fn kind_of(block: &Value) -> String {
    format!("({})", block["type"].as_str().unwrap_or("part"))
}

fn show_line(text: &mut String, label: &str, said: &str) {
    text.push_str(label);
    text.push_str(said);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_as_text() {
        let messages = [
            json!({"role": "user", "content": "Mend it."}),
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."},
                {"type": "tool_use", "name": "bash", "input": {"command": "make"}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "done"},
                {"type": "image"}]}, {"type": "image"}]}),
        ];
        let messages = messages.map(|message| message.to_string());
        let text = conversation_text(&messages.each_ref().map(String::as_str));
        let expect = "The conversation so far, compacted.\n\n[user]\nMend it.\n\n[assistant]\nYes.\ncalled bash \
                      {\"command\":\"make\"}\n\n[user]\nresult: done\nresult: (image)\n(image)\n";
        assert_eq!(text, expect);
    }
}
