//! Requests for chat completions.

use serde_json::{Value, json};

use super::OpenaiChat;
use crate::request::{FunctionTool, Requests};

impl Requests for OpenaiChat {
    fn list_field(&self) -> &'static str {
        "messages"
    }

    fn usage_in_stream(&self) -> Option<(&'static str, Value)> {
        Some(("stream_options", json!({ "include_usage": true })))
    }

    fn path_below(&self, _base: &str) -> Option<&'static str> {
        Some("/chat/completions")
    }

    fn tool_definition(&self, tool: &FunctionTool<'_>) -> Value {
        let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
        json!({"type": "function", "function": function})
    }
}
