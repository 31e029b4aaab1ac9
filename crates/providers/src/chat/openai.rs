//! The wire format of OpenAI's `/chat/completions`, which most services and local servers have too.

use serde_json::{Map, Value, json};

use super::wire::{AnswerError, count, has_items};
use super::{ChatAnswer, ChatRequest, Stop, without_thoughts};

/// The path under the base address.
pub(super) const PATH: &str = "/chat/completions";

/// The body without its settings.
pub(super) fn messages(request: &ChatRequest) -> Map<String, Value> {
    let system = (!request.system.is_empty()).then(|| json!({ "role": "system", "content": request.system }));
    let user = json!({ "role": "user", "content": request.user });
    let messages: Vec<Value> = system.into_iter().chain([user]).collect();
    Map::from_iter([("messages".to_owned(), Value::Array(messages))])
}

/// The answer in `answer`.
pub(super) fn read(answer: &Value) -> Result<ChatAnswer, AnswerError> {
    let choice = answer.get("choices").and_then(|choices| choices.get(0));
    let choice = choice.ok_or_else(|| AnswerError::Wrong("it has no `choices`".to_owned()))?;
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| AnswerError::Wrong("its choice has no `message`".to_owned()))?;
    let mut is_refused = false;
    let mut text = match &message["content"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            is_refused = parts.iter().any(|part| part["type"] == "refusal");
            parts.iter().filter_map(part_text).collect()
        }
        _ => return Err(AnswerError::Wrong("its `content` is neither a text nor a list of parts".to_owned())),
    };
    if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
        is_refused = true;
        if text.is_empty() {
            text = refusal.to_owned();
        }
    }
    let calls_tool = has_items(&message["tool_calls"]) || message["function_call"].is_object();
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
        cached_tokens: details.iter().find_map(|details| count(&details["cached_tokens"])).unwrap_or(0),
        input_tokens: count(&usage["prompt_tokens"]).or(count(&usage["input_tokens"])).unwrap_or(0),
        output_tokens: count(&usage["completion_tokens"]).or(count(&usage["output_tokens"])).unwrap_or(0),
    })
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
