//! Answers of Responses.

use serde_json::{Value, json};

use super::OpenaiResponses;
use crate::answer::{AnswerError, Answers, Call, ChatAnswer, HiddenCalls, RejoinedMessages, Stop, count, list};
use crate::thoughts::without_thoughts;

/// Items that the client has to answer.
const CLIENTS_CALLS: [&str; 7] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
];

impl Answers for OpenaiResponses {
    fn output_pointer(&self) -> &'static str {
        "/output"
    }

    fn function_call<'a>(&self, item: &'a Value) -> Option<[&'a Value; 3]> {
        (item["type"] == "function_call").then(|| [&item["call_id"], &item["name"], &item["arguments"]])
    }

    fn is_call(&self, item: &Value) -> bool {
        item["type"].as_str().is_some_and(|kind| CLIENTS_CALLS.contains(&kind))
    }

    fn result(&self, call: &Call, text: &str) -> Value {
        json!({"type": "function_call_output", "call_id": call.id, "output": text})
    }

    fn repeated(&self, item: &Value, is_stored: bool) -> Value {
        let mut item = item.clone();
        if !is_stored && let Some(fields) = item.as_object_mut() {
            fields.shift_remove("id");
        }
        item
    }

    fn step(&self, output: &Value, results: Vec<Value>, is_stored: bool) -> Vec<Value> {
        let can_be_read =
            |item: &&Value| is_stored || item["type"] != "reasoning" || item["encrypted_content"].as_str().is_some();
        let items = output.as_array().into_iter().flatten().filter(can_be_read);
        items.map(|item| self.repeated(item, is_stored)).chain(results).collect()
    }

    fn rejoined(&self, hidden: &HiddenCalls, _said: &str, next: Option<&str>) -> Option<RejoinedMessages> {
        next?;
        Some(RejoinedMessages { between: [&hidden.calls[..], &hidden.results].concat(), ..RejoinedMessages::default() })
    }

    fn read_answer(&self, answer: &Value) -> Result<ChatAnswer, AnswerError> {
        let output = list(answer, "output")?;
        let messages = output.iter().filter(|item| item["type"] == "message");
        let parts: Vec<&Value> = messages.filter_map(|message| message["content"].as_array()).flatten().collect();
        let texts = |kind: &str, field: &str| -> String {
            parts.iter().filter(|part| part["type"] == kind).filter_map(|part| part[field].as_str()).collect()
        };
        let (text, refusal) = (texts("output_text", "text"), texts("refusal", "refusal"));
        let calls_tool = output.iter().any(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call")));
        let text = without_thoughts(&text).to_owned();
        let stop = match (answer["status"].as_str(), answer["incomplete_details"]["reason"].as_str()) {
            (Some("failed" | "cancelled"), _) => {
                let why = answer["error"]["message"].as_str().unwrap_or("it failed");
                return Err(AnswerError::Busy(why.to_owned()));
            }
            (_, Some("content_filter")) => Stop::Refused,
            _ if !refusal.is_empty() => Stop::Refused,
            _ if calls_tool => Stop::ToolCall,
            (Some("incomplete"), _) | (_, Some("max_output_tokens")) => Stop::Length,
            _ => Stop::End,
        };
        let usage = &answer["usage"];
        Ok(ChatAnswer {
            text: if text.is_empty() { refusal } else { text },
            stop,
            input_tokens: count([&usage["input_tokens"]]),
            cached_tokens: count([&usage["input_tokens_details"]["cached_tokens"]]),
            output_tokens: count([&usage["output_tokens"]]),
        })
    }
}
