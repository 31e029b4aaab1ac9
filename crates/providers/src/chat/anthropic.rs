//! The wire format of Anthropic's `/v1/messages`.

use serde_json::{Map, Value, json};

use super::wire::{AnswerError, count};
use super::{ChatAnswer, ChatRequest, Stop, without_thoughts};

/// The header that carries the key.
pub(super) const KEY_HEADER: &str = "x-api-key";

/// The header that names the format, and the format.
pub(super) const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// The path under the base address, which may name the version or not.
pub(super) fn path(base_url: &str) -> &'static str {
    if base_url.ends_with("/v1") { "/messages" } else { "/v1/messages" }
}

/// The body without its settings.
pub(super) fn messages(request: &ChatRequest) -> Map<String, Value> {
    let mut body = Map::new();
    // The service refuses an empty text.
    if !request.system.is_empty() {
        body.insert("system".to_owned(), json!(request.system));
    }
    body.insert("messages".to_owned(), json!([{ "role": "user", "content": request.user }]));
    body
}

/// The answer in `answer`.
pub(super) fn read(answer: &Value) -> Result<ChatAnswer, AnswerError> {
    let content = answer.get("content").and_then(Value::as_array);
    let content = content.ok_or_else(|| AnswerError::Wrong("it has no list `content`".to_owned()))?;
    let texts = content.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    let text = without_thoughts(&texts.collect::<String>()).to_owned();
    let calls_tool = content.iter().any(|block| matches!(block["type"].as_str(), Some("tool_use" | "server_tool_use")));
    let stop = match answer["stop_reason"].as_str() {
        Some("model_context_window_exceeded") if text.is_empty() => return Err(AnswerError::Full),
        Some("refusal") => Stop::Refused,
        Some("tool_use" | "pause_turn") => Stop::ToolCall,
        _ if calls_tool => Stop::ToolCall,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        _ => Stop::End,
    };
    let usage = &answer["usage"];
    // Tokens read from the provider's cache or written to it are input too.
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    Ok(ChatAnswer {
        text,
        stop,
        input_tokens: read.iter().filter_map(|key| count(&usage[*key])).fold(0, u64::saturating_add),
        cached_tokens: count(&usage["cache_read_input_tokens"]).unwrap_or(0),
        output_tokens: count(&usage["output_tokens"]).unwrap_or(0),
    })
}
