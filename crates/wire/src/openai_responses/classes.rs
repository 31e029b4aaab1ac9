//! What the items are.

use serde_json::{Map, Value};

use crate::PartClass;

/// Returns the class of an item.
///
/// Calls and results go by the ends of their kinds, whichever tool it is: each of the provider's tools has `*_call`, and
/// `*_call_output` where the client runs it. An item that brings definitions of tools is configuration, unless it is the
/// result of a call.
pub fn class_of_item(item: &Map<String, Value>) -> PartClass {
    match item.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message" | "agent_message" => PartClass::Speech,
        "" if item.contains_key("role") => PartClass::Speech,
        // A reference may leave its type out (`ItemReference` of openai-python 3.57).
        "" if item.get("id").is_some_and(Value::is_string)
            && item.keys().all(|name| name == "id" || name == "type") =>
        {
            PartClass::Configuration
        }
        "reasoning" => PartClass::Reasoning,
        "program" => PartClass::Call,
        "item_reference" | "compaction_trigger" | "configuration_update" => PartClass::Configuration,
        kind if kind.contains("compaction") => PartClass::Compaction,
        kind if kind.ends_with("_approval_request") || kind.ends_with("_approval_response") => PartClass::Configuration,
        kind if kind.ends_with("_call") => PartClass::Call,
        kind if kind.ends_with("_output") => PartClass::Result,
        _ if item.get("tools").is_some_and(Value::is_array) => PartClass::Configuration,
        _ => PartClass::Opaque,
    }
}

/// Whether the provider itself runs a call, so that no item answers it: what came of it stands in the call. Only a call that
/// the client has to answer has an id for that.
pub fn is_run_by_provider(call: &Map<String, Value>) -> bool {
    let for_client = call.get("call_id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
    !for_client || call.get("execution").is_some_and(|place| place == "server")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_of_items() {
        let check = |item: Value, expect: PartClass| {
            assert_eq!(class_of_item(item.as_object().unwrap()), expect, "{item}");
        };
        check(json!({"role": "user", "content": "x"}), PartClass::Speech);
        for kind in ["function_call", "shell_call", "mcp_call", "image_generation_call", "one_of_tomorrow_call"] {
            check(json!({ "type": kind }), PartClass::Call);
            check(json!({ "type": format!("{kind}_output"), "tools": [] }), PartClass::Result);
        }
        check(json!({"type": "additional_tools", "role": "developer", "tools": []}), PartClass::Configuration);
        check(json!({"type": "mcp_list_tools", "server_label": "s", "tools": []}), PartClass::Configuration);
        check(json!({"type": "mcp_approval_request", "id": "a"}), PartClass::Configuration);
        check(json!({"type": "item_reference", "id": "a"}), PartClass::Configuration);
        check(json!({"id": "a"}), PartClass::Configuration);
        check(json!({"type": null, "id": "a"}), PartClass::Configuration);
        check(json!({"id": "a", "role": "user", "content": "x"}), PartClass::Speech);
        check(json!({"id": "a", "content": "x"}), PartClass::Opaque);
        check(json!({"id": 1}), PartClass::Opaque);
        // Codex 0.169 keeps it in its history.
        check(json!({"type": "configuration_update", "id": "a"}), PartClass::Configuration);
        check(json!({"type": "novelty", "text": "x"}), PartClass::Opaque);
    }

    #[test]
    fn who_runs_a_call() {
        let check = |call: Value, expect: bool| {
            assert_eq!(is_run_by_provider(call.as_object().unwrap()), expect, "{call}");
        };
        check(json!({"type": "web_search_call", "id": "w"}), true);
        check(json!({"type": "tool_search_call", "call_id": null, "execution": "server"}), true);
        check(json!({"type": "tool_search_call", "call_id": "c", "execution": "client"}), false);
        check(json!({"type": "shell_call", "id": "s", "call_id": "c"}), false);
    }
}
