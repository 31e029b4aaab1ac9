//! Requests for Anthropic's messages.

use serde_json::{Value, json};

use super::Anthropic;
use super::models::images_of;
use crate::json::Object;
use crate::request::{FunctionTool, Limits, Requests};

impl Requests for Anthropic {
    fn list_field(&self) -> &'static str {
        "messages"
    }

    fn system_fields(&self) -> &'static [&'static str] {
        &["system"]
    }

    fn merges_neighbours(&self) -> bool {
        true
    }

    fn tool_definition(&self, tool: &FunctionTool<'_>) -> Value {
        json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
    }

    /// Anthropic's cache covers the choice of tools.
    fn answered_in_text(&self, fields: &Object<'_>) -> Option<(&'static str, Value)> {
        is_call_forced(fields).then(|| ("tool_choice", json!({ "type": "none" })))
    }

    fn path_below(&self, base: &str) -> Option<&'static str> {
        Some(if base.ends_with("/v1") { "/messages" } else { "/v1/messages" })
    }

    /// Source: platform.claude.com/docs, "Request size limits" of the API overview and "General limits" of "Images and vision".
    fn limits(&self, model: Option<&str>) -> Limits {
        Limits { bytes: 32_000_000, images: images_of(model), crowd: Some((20, 2_000)) }
    }

    fn key_header(&self) -> Option<&'static str> {
        Some("x-api-key")
    }

    fn version_header(&self) -> Option<(&'static str, &'static str)> {
        Some(("anthropic-version", "2023-06-01"))
    }

    fn operation(&self) -> (&'static str, &'static str) {
        ("chat", "anthropic")
    }

    fn no_calls(&self) -> (&'static [&'static str], &'static str) {
        (&["tool_choice"], r#"{"type":"none"}"#)
    }
}

/// Whether a request does not leave it to the model whether it calls a tool.
pub(super) fn is_call_forced(fields: &Object<'_>) -> bool {
    let choice = fields.get("tool_choice").unwrap_or_default();
    ["\"any\"", "\"tool\""].iter().any(|kind| choice.contains(kind))
}
