//! Requests of Anthropic's messages.

use epitome_session::Dialect;
use serde_json::Value;

use super::blocks;
use crate::blocks::configuration;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::requests::{candidates, is_chat_message, read_sessions, with_role};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let of_anthropic = |message: &Value| {
        const KINDS: [&str; 6] =
            ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"];
        let block = |block: &Value| {
            let kind = block["type"].as_str().unwrap_or_default();
            // Mistral's chunks of this kind hold parts.
            KINDS.contains(&kind) && !block["thinking"].is_array()
                || (kind == "image" && block["source"].is_object())
                || block["cache_control"].is_object()
        };
        message["role"].is_string() && message["content"].as_array().is_some_and(|blocks| blocks.iter().any(block))
    };
    let of_openai = |message: &Value| {
        matches!(message["role"].as_str(), Some("tool" | "function" | "developer"))
            || message["tool_calls"].is_array()
            || message["function_call"].is_object()
    };
    let mut marked = false;
    for candidate in candidates(probe) {
        let request = candidate["messages"].as_array();
        let messages = request.map_or_else(|| std::slice::from_ref(candidate), Vec::as_slice);
        if messages.iter().any(of_openai) {
            return false;
        }
        let of_request = request.is_some_and(|list| list.iter().all(is_chat_message))
            && (matches!(candidate["system"], Value::String(_) | Value::Array(_))
                || candidate.get("anthropic_version").is_some()
                || candidate["tools"]
                    .as_array()
                    .is_some_and(|tools| tools.iter().any(|it| it["input_schema"].is_object()))
                || candidate["model"].as_str().is_some_and(|model| model.starts_with("claude")));
        marked |= of_request || messages.iter().any(of_anthropic);
    }
    marked
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    read_sessions(probe, Format::Anthropic, warnings, |envelope, reader| {
        if let Some(system) = envelope.wrapper.as_ref().and_then(|wrapper| wrapper.get("system")) {
            reader.instructions(envelope, system, blocks::blocks(system));
        }
        for (number, (span, json)) in envelope.items.iter().enumerate() {
            let Some(object) = with_role(json) else {
                reader.warn_skipped(number);
                continue;
            };
            let record = reader.record(span.clone());
            let role = object.text("role").unwrap_or_default();
            if blocks::is_effort_alone(&role, &object) {
                reader.push(configuration(json, "output_config", Dialect::Anthropic), record, &object);
                continue;
            }
            for message in blocks::messages(&role, object.get("content").unwrap_or_default()) {
                if message.blocks.iter().any(blocks::is_compaction) {
                    reader.leave_out();
                }
                reader.push(message, record, &object);
            }
        }
    })
}
