//! Requests for Responses.

use serde_json::{Value, json};

use super::OpenaiResponses;
use crate::json::Object;
use crate::request::{FunctionTool, Requests};

/// Whether a request continues a response, or a conversation, that the provider has stored: its items may then answer calls
/// and requests for approval that are there ("Conversation state").
pub fn continues_stored(fields: &Object<'_>) -> bool {
    ["previous_response_id", "conversation"].iter().any(|name| fields.is_given(name))
}

impl Requests for OpenaiResponses {
    fn list_field(&self) -> &'static str {
        "input"
    }

    fn system_fields(&self) -> &'static [&'static str] {
        &["instructions"]
    }

    fn has_turns_of_items(&self) -> bool {
        true
    }

    fn user_message(&self, text: &str) -> Option<Value> {
        let content = json!([{ "type": "input_text", "text": text }]);
        Some(json!({ "type": "message", "role": "user", "content": content }))
    }

    fn tool_definition(&self, tool: &FunctionTool<'_>) -> Value {
        json!({
            "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema,
            "strict": false,
        })
    }
}
