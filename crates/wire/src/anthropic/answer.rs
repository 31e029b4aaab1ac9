//! Anthropic's answers.

use serde_json::{Value, json};

use super::Anthropic;
use crate::answer::{AnswerError, Answers, Call, ChatAnswer, HiddenCalls, RejoinedMessages, Stop, count, list};
use crate::thoughts::without_thoughts;

impl Answers for Anthropic {
    fn output_pointer(&self) -> &'static str {
        "/content"
    }

    fn function_call<'a>(&self, block: &'a Value) -> Option<[&'a Value; 3]> {
        (block["type"] == "tool_use").then(|| [&block["id"], &block["name"], &block["input"]])
    }

    fn result(&self, call: &Call, text: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": call.id, "content": text})
    }

    fn step(&self, output: &Value, results: Vec<Value>, _is_stored: bool) -> Vec<Value> {
        // Texts of nothing are not taken back.
        let is_empty = |block: &&Value| block["type"] == "text" && block["text"].as_str().is_none_or(str::is_empty);
        let blocks: Vec<&Value> = output.as_array().into_iter().flatten().filter(|block| !is_empty(block)).collect();
        vec![json!({"role": "assistant", "content": blocks}), json!({"role": "user", "content": results})]
    }

    fn rejoined(&self, hidden: &HiddenCalls, said: &str, next: Option<&str>) -> Option<RejoinedMessages> {
        let mut said: Value = serde_json::from_str(said).ok()?;
        let mut next: Value = serde_json::from_str(next?).ok()?;
        if next["role"] != "user" {
            return None;
        }
        blocks(&mut said)?.extend(hidden.calls.iter().cloned());
        blocks(&mut next)?.splice(0..0, hidden.results.iter().cloned());
        Some(RejoinedMessages { said: Some(said), next: Some(next), ..RejoinedMessages::default() })
    }

    fn end_turn(&self, answer: &mut Value) {
        answer["stop_reason"] = "end_turn".into();
    }

    fn read_answer(&self, answer: &Value) -> Result<ChatAnswer, AnswerError> {
        let content = list(answer, "content")?;
        let texts = content.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
        let text = without_thoughts(&texts.collect::<String>()).to_owned();
        let calls_tool =
            content.iter().any(|block| matches!(block["type"].as_str(), Some("tool_use" | "server_tool_use")));
        let stop = match answer["stop_reason"].as_str() {
            Some("model_context_window_exceeded") if text.is_empty() => return Err(AnswerError::Full),
            Some("refusal") => Stop::Refused,
            Some("tool_use" | "pause_turn") => Stop::ToolCall,
            _ if calls_tool => Stop::ToolCall,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            _ => Stop::End,
        };
        Ok(with_cost(&answer["usage"], text, stop))
    }
}

/// An answer with what it cost. The figures at the top leave compactions out, so the iterations count where there are any.
pub(super) fn with_cost(usage: &Value, text: String, stop: Stop) -> ChatAnswer {
    let iterations = usage["iterations"].as_array().filter(|parts| !parts.is_empty());
    let parts = iterations.map_or(std::slice::from_ref(usage), Vec::as_slice);
    let sum = |name: &str| parts.iter().map(|part| count([&part[name]])).fold(0, u64::saturating_add);
    // Tokens read from the provider's cache or written to it are input too.
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    ChatAnswer {
        text,
        stop,
        input_tokens: read.map(sum).into_iter().fold(0, u64::saturating_add),
        cached_tokens: sum("cache_read_input_tokens"),
        output_tokens: sum("output_tokens"),
    }
}

/// The content of a message as a list of blocks.
fn blocks(message: &mut Value) -> Option<&mut Vec<Value>> {
    let content = message.get_mut("content")?;
    if let Value::String(text) = content {
        *content = if text.is_empty() { json!([]) } else { json!([{"type": "text", "text": text}]) };
    }
    content.as_array_mut()
}
