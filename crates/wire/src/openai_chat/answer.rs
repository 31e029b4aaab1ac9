//! Answers of chat completions.

use serde_json::{Value, json};

use super::OpenaiChat;
use crate::answer::{AnswerError, Answers, Call, ChatAnswer, HiddenCalls, RejoinedMessages, Stop, count};
use crate::thoughts::without_thoughts;

impl Answers for OpenaiChat {
    fn output_pointer(&self) -> &'static str {
        "/choices/0/message"
    }

    fn parts_field(&self) -> Option<&'static str> {
        Some("tool_calls")
    }

    fn function_call<'a>(&self, call: &'a Value) -> Option<[&'a Value; 3]> {
        Some([&call["id"], &call["function"]["name"], &call["function"]["arguments"]])
    }

    fn result(&self, call: &Call, text: &str) -> Value {
        json!({"role": "tool", "tool_call_id": call.id, "content": text})
    }

    fn remove_calls(&self, message: &mut Value, names: &[&str]) {
        let Some(message) = message.as_object_mut() else { return };
        let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) else { return };
        calls.retain(|call| !self.is_call_of(call, names));
        if calls.is_empty() {
            message.shift_remove("tool_calls");
        }
    }

    fn step(&self, message: &Value, results: Vec<Value>, _is_stored: bool) -> Vec<Value> {
        let mut message = message.clone();
        message["role"] = "assistant".into();
        [vec![message], results].concat()
    }

    fn rejoined(&self, hidden: &HiddenCalls, said: &str, _next: Option<&str>) -> Option<RejoinedMessages> {
        let mut said: Value = serde_json::from_str(said).ok()?;
        let calls = said.as_object_mut()?.entry("tool_calls").or_insert(Value::Null);
        if calls.is_null() {
            *calls = json!([]);
        }
        calls.as_array_mut()?.extend(hidden.calls.iter().cloned());
        Some(RejoinedMessages { said: Some(said), between: hidden.results.clone(), next: None })
    }

    fn end_turn(&self, answer: &mut Value) {
        answer["choices"][0]["finish_reason"] = "stop".into();
    }

    fn read_answer(&self, answer: &Value) -> Result<ChatAnswer, AnswerError> {
        let wrong = |problem: &str| AnswerError::Wrong(problem.to_owned());
        let choice = answer.get("choices").and_then(|choices| choices.get(0));
        let choice = choice.ok_or_else(|| wrong("it has no `choices`"))?;
        let message = choice.get("message").filter(|message| message.is_object());
        let message = message.ok_or_else(|| wrong("its choice has no `message`"))?;
        let mut is_refused = false;
        let mut text = match &message["content"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                is_refused = parts.iter().any(|part| part["type"] == "refusal");
                parts.iter().filter_map(part_text).collect()
            }
            _ => return Err(wrong("its `content` is neither a text nor a list of parts")),
        };
        if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
            is_refused = true;
            if text.is_empty() {
                text = refusal.to_owned();
            }
        }
        let has_calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        let calls_tool = has_calls || message["function_call"].is_object();
        let text = without_thoughts(&text).to_owned();
        let stop = match choice["finish_reason"].as_str() {
            // Services' finish reasons for failures on their side: the text is not an answer.
            Some(reason @ ("error" | "insufficient_system_resource" | "network_error")) => {
                return Err(AnswerError::Busy(format!("it broke off: `{reason}`")));
            }
            Some("model_context_window_exceeded") if text.is_empty() => return Err(AnswerError::Full),
            Some("content_filter" | "sensitive" | "refusal") => Stop::Refused,
            _ if is_refused => Stop::Refused,
            Some("tool_calls" | "function_call") => Stop::ToolCall,
            _ if calls_tool => Stop::ToolCall,
            Some("length" | "max_tokens" | "model_length" | "model_context_window_exceeded") => Stop::Length,
            // `stop`, other services' names for it, and services that say nothing.
            _ => Stop::End,
        };
        let usage = &answer["usage"];
        let details = [&usage["prompt_tokens_details"], &usage["input_tokens_details"]];
        Ok(ChatAnswer {
            text,
            stop,
            cached_tokens: count(details.map(|details| &details["cached_tokens"])),
            input_tokens: count([&usage["prompt_tokens"], &usage["input_tokens"]]),
            output_tokens: count([&usage["completion_tokens"], &usage["output_tokens"]]),
        })
    }
}

/// The text of a part; thoughts, pictures and unknown parts have none.
fn part_text(part: &Value) -> Option<&str> {
    match part {
        Value::String(text) => Some(text),
        _ => match part["type"].as_str() {
            None | Some("text" | "output_text") => part["text"].as_str(),
            Some("refusal") => part["refusal"].as_str(),
            Some(_) => None,
        },
    }
}
