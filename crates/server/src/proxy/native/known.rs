//! The parts of conversations that can be compacted here. Whatever else a request holds may change what the
//! conversation is: what tools there are, where its history lies. Then the provider is asked.

use epitome::formats::Format;
use epitome_wire::PartClass;
use epitome_wire::anthropic::class_of_block;
use epitome_wire::openai_responses::class_of_item;
use serde_json::{Map, Value};

/// Whether an item of OpenAI's is a part of a conversation and nothing else.
pub(super) fn is_known_item(item: &Map<String, Value>) -> bool {
    unknown_item(item).is_none()
}

/// Why messages without items of ours cannot be compacted here, as a code: one of them is a compaction by the provider,
/// which only it can read, or of an unknown kind. Linear in the messages.
pub(super) fn unknown_part<S: AsRef<str>>(format: Format, messages: &[S]) -> Option<&'static str> {
    messages.iter().find_map(|json| {
        let Ok(message) = serde_json::from_str::<Value>(json.as_ref()) else { return Some("not-understood") };
        match format {
            Format::Anthropic => match &message["content"] {
                Value::Array(blocks) => blocks.iter().find_map(unknown_block),
                Value::String(_) => None,
                _ => Some("not-understood"),
            },
            _ => message.as_object().map_or(Some("unknown-part"), unknown_item),
        }
    })
}

fn unknown_block(block: &Value) -> Option<&'static str> {
    unknown_class(class_of_block(block["type"].as_str().unwrap_or_default()))
}

fn unknown_item(item: &Map<String, Value>) -> Option<&'static str> {
    match item.get("type").and_then(Value::as_str) {
        Some("item_reference") => Some("history-at-the-provider"),
        // What a server offered, and a person allowed it, stays said in the conversation.
        Some(kind) if kind.starts_with("mcp_") || kind == "compaction_trigger" => None,
        _ => unknown_class(class_of_item(item)),
    }
}

fn unknown_class(class: PartClass) -> Option<&'static str> {
    match class {
        PartClass::Speech | PartClass::Reasoning | PartClass::Call | PartClass::Result => None,
        PartClass::Compaction => Some("compaction-of-the-provider"),
        PartClass::Configuration | PartClass::Opaque => Some("unknown-part"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        openai(json!({"type": "additional_tools", "tools": []}), Some("unknown-part"));
        openai(json!({"type": "mcp_list_tools", "tools": []}), None);
        openai(json!({"type": "one_of_tomorrow_call", "call_id": "c"}), None);
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
