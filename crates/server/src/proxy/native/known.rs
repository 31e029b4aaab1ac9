//! The parts of conversations that can be compacted here. Whatever else a request holds may change what the
//! conversation is: what tools there are, where its history lies. Then the provider is asked.

use epitome::formats::Format;
use serde_json::Value;

/// Items of OpenAI's Responses that are messages, reasoning, calls or their results.
const ITEMS: [&str; 29] = [
    "message",
    "agent_message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "computer_call",
    "computer_call_output",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "tool_search_call",
    "tool_search_output",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_tool_call",
    "mcp_tool_call_output",
    "ghost_snapshot",
    "compaction_trigger",
];

/// Blocks of Anthropic's messages that are texts, reasoning, calls or their results.
const BLOCKS: [&str; 17] = [
    "text",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "tool_use",
    "tool_result",
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
];

/// Whether an item of OpenAI's of that kind is a part of a conversation and nothing else.
pub(super) fn is_known_item(kind: &str) -> bool {
    ITEMS.contains(&kind)
}

/// Why messages without items of ours cannot be compacted here, as a code: one of them is a compaction by the provider,
/// which only it can read, or of an unknown kind. Linear in the messages.
pub(super) fn unknown_part<S: AsRef<str>>(format: Format, messages: &[S]) -> Option<&'static str> {
    messages.iter().find_map(|json| {
        let Ok(message) = serde_json::from_str::<Value>(json.as_ref()) else { return Some("not-understood") };
        match format {
            Format::Anthropic => match &message["content"] {
                Value::Array(blocks) => blocks.iter().find_map(|block| unknown_kind(&block["type"], &BLOCKS)),
                Value::String(_) => None,
                _ => Some("not-understood"),
            },
            _ if message.get("type").is_none() && message["role"].is_string() => None,
            _ => unknown_kind(&message["type"], &ITEMS),
        }
    })
}

fn unknown_kind(kind: &Value, known: &[&str]) -> Option<&'static str> {
    match kind.as_str() {
        Some(kind) if known.contains(&kind) => None,
        Some(kind) if kind.contains("compaction") => Some("compaction-of-the-provider"),
        Some("item_reference") => Some("history-at-the-provider"),
        _ => Some("unknown-part"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_can_be_compacted_here() {
        let check = |format, message: Value, expect| {
            assert_eq!(unknown_part(format, &[message.to_string()]), expect, "{message}");
        };
        let openai = |message, expect| check(Format::OpenaiResponses, message, expect);
        openai(json!({"role": "user", "content": "x"}), None);
        openai(json!({"type": "function_call_output", "call_id": "c", "output": "x"}), None);
        openai(json!({"type": "compaction", "encrypted_content": "x"}), Some("compaction-of-the-provider"));
        openai(json!({"type": "item_reference", "id": "x"}), Some("history-at-the-provider"));
        openai(json!({"type": "configuration_update"}), Some("unknown-part"));
        openai(json!("x"), Some("unknown-part"));
        let anthropic = |message, expect| check(Format::Anthropic, message, expect);
        anthropic(json!({"role": "user", "content": "x"}), None);
        anthropic(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}), None);
        let blocks = |kind: &str| json!({"role": "assistant", "content": [{"type": "text"}, {"type": kind}]});
        anthropic(blocks("thinking"), None);
        anthropic(blocks("compaction"), Some("compaction-of-the-provider"));
        anthropic(blocks("tool_addition"), Some("unknown-part"));
        anthropic(json!({"role": "user"}), Some("not-understood"));
        assert_eq!(unknown_part(Format::Anthropic, &["{"]), Some("not-understood"));
    }
}
