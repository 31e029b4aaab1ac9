//! OpenAI Responses.

use serde_json::Value;

use crate::validate::findings::{Findings, OpenCalls, arguments};

pub(crate) fn check(items: &[Value], list_name: &str, found: &mut Findings) {
    let mut open = OpenCalls::default();
    let mut started = false;
    for (index, item) in items.iter().enumerate() {
        let path = format!("{list_name}[{index}]");
        let role = item["role"].as_str().unwrap_or_default();
        let kind = item["type"].as_str().unwrap_or(if role.is_empty() { "" } else { "message" });
        let is_output = kind.ends_with("_output");
        // The model may continue its turn before the first output; no other item may come in between.
        let same_turn = !open.answered_some && (kind != "message" || role == "assistant");
        if !is_output && !same_turn {
            open.close(&path, found);
        }
        if !started && !matches!((kind, role), ("message", "system" | "developer")) {
            started = true;
            if !matches!((kind, role), ("message", "user") | ("compaction", _)) {
                found.add(&path, "first-user", "the first item is not a user's message".to_owned());
            }
        }
        match kind {
            "message" => message(&path, role, &item["content"], found),
            "function_call" | "custom_tool_call" | "tool_search_call" | "local_shell_call" => {
                call(&path, kind, item, &mut open, found);
            }
            _ if is_output => {
                let id = item["call_id"].as_str().unwrap_or_default();
                // Early recordings answer the shell's calls as those of a function.
                let call = kind.trim_end_matches("_output");
                let call = if call == "tool_search" { "tool_search_call" } else { call };
                let was_open =
                    open.answer(id, call) || (call == "function_call" && open.answer(id, "local_shell_call"));
                if !was_open {
                    found.add(&path, "result-without-call", format!("no call `{id}` waits for this output"));
                }
                let output = if item.get("tools").is_some() { &item["tools"] } else { &item["output"] };
                if !output.is_string() && !output.is_array() {
                    found.add(&path, "content", "there is no output".to_owned());
                }
            }
            "" => found.add(&path, "role", "the item has neither a type nor a role".to_owned()),
            _ => {}
        }
    }
}

fn call(path: &str, kind: &str, item: &Value, open: &mut OpenCalls, found: &mut Findings) {
    let id = item["call_id"].as_str().unwrap_or_default();
    if kind == "function_call" {
        arguments(&format!("{path}.arguments"), &item["arguments"], found);
    }
    if kind == "custom_tool_call" && !item["input"].is_string() {
        found.add(path, "arguments", "a custom tool's input is a text".to_owned());
    }
    if matches!(kind, "function_call" | "custom_tool_call") && item["name"].as_str().is_none_or(str::is_empty) {
        found.add(path, "content", "the call names no tool".to_owned());
    }
    match (id.is_empty(), kind) {
        (true, "function_call" | "custom_tool_call") => {
            found.add(path, "call-id", "the call has no id".to_owned());
        }
        // The provider's own tools run on its side: their calls need no output.
        (true, _) => {}
        (false, "tool_search_call") if item["execution"] == "server" => {}
        (false, _) => {
            if !open.open(id, kind) {
                found.add(path, "call-id", format!("the id `{id}` is that of another call that waits"));
            }
        }
    }
}

fn message(path: &str, role: &str, content: &Value, found: &mut Findings) {
    if !matches!(role, "system" | "developer" | "user" | "assistant") {
        found.add(path, "role", format!("`{role}` is not a role"));
    }
    let parts = match content {
        Value::String(text) if !text.is_empty() => return,
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => {
            found.add(path, "content", "the message is empty".to_owned());
            return;
        }
    };
    for (index, part) in parts.iter().enumerate() {
        let path = format!("{path}.content[{index}]");
        let kind = part["type"].as_str().unwrap_or_default();
        let of_model = matches!(kind, "output_text" | "refusal");
        if of_model != (role == "assistant") {
            found.add(&path, "part-type", format!("a part `{kind}` does not go with the role {role}"));
        }
        if matches!(kind, "input_text" | "output_text") && part["text"].as_str().is_none_or(str::is_empty) {
            found.add(&path, "content", "the text is empty".to_owned());
        }
    }
}
