//! The answer of OpenAI's `/responses`.

use serde_json::Value;

use crate::chat::wire::{AnswerError, count};
use crate::chat::{ChatAnswer, Stop, without_thoughts};

/// The answer in `answer`.
pub(super) fn read(answer: &Value) -> Result<ChatAnswer, AnswerError> {
    let output = answer.get("output").and_then(Value::as_array);
    let output = output.ok_or_else(|| AnswerError::Wrong("it has no list `output`".to_owned()))?;
    let messages = output.iter().filter(|item| item["type"] == "message");
    let parts: Vec<&Value> = messages.filter_map(|message| message["content"].as_array()).flatten().collect();
    let text: String =
        parts.iter().filter(|part| part["type"] == "output_text").filter_map(|part| part["text"].as_str()).collect();
    let refusal: String =
        parts.iter().filter(|part| part["type"] == "refusal").filter_map(|part| part["refusal"].as_str()).collect();
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
        input_tokens: count(&usage["input_tokens"]).unwrap_or(0),
        cached_tokens: count(&usage["input_tokens_details"]["cached_tokens"]).unwrap_or(0),
        output_tokens: count(&usage["output_tokens"]).unwrap_or(0),
    })
}
