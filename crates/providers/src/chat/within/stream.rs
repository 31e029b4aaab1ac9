//! Streams of events put together: the object that the provider would have answered without streaming, as far as an answer
//! in text needs it.

use serde_json::{Map, Value, json};

use super::{Wire, refused};
use crate::chat::{ChatError, ChatErrorKind};

/// Whether a body is a stream of events: it begins with a field of one, or with a comment.
pub(super) fn is_stream(body: &str) -> bool {
    let start = body.trim_start_matches(['\u{feff}', '\r', '\n', ' ']);
    ["event:", "data:", "id:", "retry:", ":"].iter().any(|field| start.starts_with(field))
}

/// The answer that a stream carries. Linear.
///
/// # Errors
///
/// The stream reports an error, or ends before the answer does.
pub(super) fn assemble_answer(wire: Wire, body: &str) -> Result<Value, ChatError> {
    let mut answer = StreamedAnswer::default();
    for data in events(body) {
        if data == "[DONE]" {
            answer.ended = true;
            continue;
        }
        let Ok(event) = serde_json::from_str::<Value>(&data) else {
            let message = "the provider's stream holds something that is not JSON".to_owned();
            return Err(ChatError::new(ChatErrorKind::Unreadable, message));
        };
        if event["type"] == "error" || event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(refused(status_of(&event), &event.to_string()));
        }
        match wire {
            Wire::OpenaiChat => answer.add_chat(&event),
            Wire::OpenaiResponses => answer.add_responses(event),
            Wire::Anthropic => answer.add_anthropic(&event),
        }
    }
    if !answer.ended {
        let message = "the provider's stream ended before the answer did".to_owned();
        return Err(ChatError::new(ChatErrorKind::Transient, message));
    }
    Ok(answer.object(wire))
}

/// The status that an error in a stream would have had.
fn status_of(event: &Value) -> u16 {
    let kind = event["error"]["type"].as_str().or(event["error"]["code"].as_str()).unwrap_or_default();
    match kind {
        "overloaded_error" => 529,
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        "invalid_request_error" | "context_length_exceeded" => 400,
        "authentication_error" => 401,
        _ => 500,
    }
}

/// The data of each event, lines of one joined.
fn events(body: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in body.lines().chain([""]) {
        match line.strip_prefix("data:") {
            Some(text) => data.push(text.strip_prefix(' ').unwrap_or(text)),
            None if line.is_empty() && !data.is_empty() => found.push(std::mem::take(&mut data).join("\n")),
            None => {}
        }
    }
    found
}

#[derive(Default)]
struct StreamedAnswer {
    text: String,
    refusal: String,
    calls_tool: bool,
    /// Why the model stopped, in the provider's word.
    reason: Option<String>,
    usage: Map<String, Value>,
    ended: bool,
    /// The whole answer, where an event brings it.
    whole: Option<Value>,
}

impl StreamedAnswer {
    fn add_chat(&mut self, event: &Value) {
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        self.text.push_str(delta["content"].as_str().unwrap_or_default());
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        self.calls_tool |= delta["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.reason = Some(reason.to_owned());
            // Some services end without `[DONE]`.
            self.ended = true;
        }
        self.add_usage(&event["usage"]);
    }

    fn add_responses(&mut self, mut event: Value) {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        if matches!(kind.as_str(), "response.completed" | "response.incomplete" | "response.failed") {
            self.ended = true;
            self.whole = Some(event["response"].take());
        }
        // Some services leave the texts out of the last event.
        if kind == "response.output_text.delta" {
            self.text.push_str(event["delta"].as_str().unwrap_or_default());
        }
        let is_call = |item: &Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"));
        self.calls_tool |= is_call(&event["item"]);
    }

    fn add_anthropic(&mut self, event: &Value) {
        match event["type"].as_str() {
            Some("message_start") => self.add_usage(&event["message"]["usage"]),
            Some("content_block_start") => {
                let kind = event["content_block"]["type"].as_str();
                self.calls_tool |= matches!(kind, Some("tool_use" | "server_tool_use"));
                self.text.push_str(event["content_block"]["text"].as_str().unwrap_or_default());
            }
            Some("content_block_delta") if event["delta"]["type"] == "text_delta" => {
                self.text.push_str(event["delta"]["text"].as_str().unwrap_or_default());
            }
            Some("message_delta") => {
                self.reason = event["delta"]["stop_reason"].as_str().map(str::to_owned).or(self.reason.take());
                self.add_usage(&event["usage"]);
            }
            Some("message_stop") => self.ended = true,
            _ => {}
        }
    }

    /// Later figures replace earlier ones.
    fn add_usage(&mut self, usage: &Value) {
        for (name, value) in usage.as_object().into_iter().flatten() {
            if !value.is_null() {
                self.usage.insert(name.clone(), value.clone());
            }
        }
    }

    /// The object that the wire's own reader takes.
    fn object(self, wire: Wire) -> Value {
        let Self { text, refusal, calls_tool, reason, usage, whole, .. } = self;
        match wire {
            Wire::OpenaiChat => {
                let calls = if calls_tool { json!([{}]) } else { Value::Null };
                json!({
                    "choices": [{
                        "message": { "content": text, "refusal": refusal, "tool_calls": calls },
                        "finish_reason": reason,
                    }],
                    "usage": usage,
                })
            }
            Wire::Anthropic => {
                let mut content = vec![json!({ "type": "text", "text": text })];
                content.extend(calls_tool.then(|| json!({ "type": "tool_use" })));
                json!({ "content": content, "stop_reason": reason, "usage": usage })
            }
            Wire::OpenaiResponses => {
                let mut whole = whole.unwrap_or_default();
                let has_output = whole["output"].as_array().is_some_and(|output| !output.is_empty());
                if !has_output && whole.is_object() {
                    let mut output = vec![json!({
                        "type": "message",
                        "content": [{ "type": "output_text", "text": text }],
                    })];
                    output.extend(calls_tool.then(|| json!({ "type": "function_call" })));
                    whole["output"] = Value::Array(output);
                }
                whole
            }
        }
    }
}
