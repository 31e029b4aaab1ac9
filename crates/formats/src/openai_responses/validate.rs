//! OpenAI Responses.

use std::collections::HashSet;

use serde_json::Value;

use epitome_wire::PartClass;
use epitome_wire::openai_responses::{class_of_item, is_run_by_provider};

use crate::validate::findings::{Findings, OpenCalls, arguments};

/// Checks the items of a request, which `continues_stored` what the provider has: then they may answer calls that are there,
/// each once, and begin with anything ("Conversation state", "MCP and connectors").
pub(crate) fn check(items: &[Value], list_name: &str, continues_stored: bool, found: &mut Findings) {
    let mut open = OpenCalls::default();
    let mut answered: HashSet<&str> = items
        .iter()
        .filter(|item| item.as_object().is_some_and(|fields| class_of_item(fields) == PartClass::Call))
        .filter_map(|call| call["call_id"].as_str().or_else(|| call["id"].as_str()))
        .collect();
    // Programs that run: they may call until their output comes ("Programmatic tool calling").
    let mut programs: HashSet<&str> = HashSet::new();
    let mut started = continues_stored;
    for (index, item) in items.iter().enumerate() {
        let path = format!("{list_name}[{index}]");
        let role = item["role"].as_str().unwrap_or_default();
        let kind = item["type"].as_str().unwrap_or(if role.is_empty() { "" } else { "message" });
        let class = item.as_object().map_or(PartClass::Opaque, class_of_item);
        if class == PartClass::Configuration {
            continue; // it may stand anywhere
        }
        let is_output = class == PartClass::Result;
        // The model may continue its turn before the first output; no other item may come in between.
        let caller = item["caller"]["caller_id"].as_str();
        let goes_on = caller.is_some_and(|caller| programs.contains(caller));
        let same_turn = goes_on || (!open.answered_some && (kind != "message" || role == "assistant"));
        if let Some(caller) = caller.filter(|_| class == PartClass::Call && !goes_on && !continues_stored) {
            found.add(&path, "caller", format!("the call is made by `{caller}`, which is no program that is running"));
        }
        let id = item["call_id"].as_str().unwrap_or_default();
        match kind {
            "program" => {
                programs.insert(id);
            }
            "program_output" => {
                programs.remove(id);
            }
            _ => {}
        }
        if !is_output && !same_turn {
            open.close(&path, found);
        }
        if !started && !matches!((kind, role), ("message", "system" | "developer")) {
            started = true;
            // OpenAI itself has no rule for the first item (`ResponseInputParam` of openai-python 3.57). Servers that make a
            // prompt of chat messages from the items may ask for somebody's words to the model; another agent's are such.
            if !matches!((kind, role), ("message", "user") | ("compaction" | "agent_message", _)) {
                found.add(&path, "first-user", "the first item is not a user's message".to_owned());
            }
        }
        match kind {
            "message" => message(&path, role, &item["content"], found),
            _ if class == PartClass::Call => call(&path, kind, item, &mut open, found),
            // What the provider ran itself needs no call that waits.
            _ if is_output && item["execution"] == "server" => {}
            _ if is_output => {
                // The shell's own output has an id of that name alone.
                let id = item["call_id"].as_str().or_else(|| item["id"].as_str()).unwrap_or_default();
                // Early recordings answer the shell's calls as those of a function.
                let call = kind.trim_end_matches("_output");
                let call = &if call.ends_with("_call") || call == "program" {
                    call.to_owned()
                } else {
                    format!("{call}_call")
                };
                let was_open =
                    open.answer(id, call) || (call == "function_call" && open.answer(id, "local_shell_call"));
                let is_stored = !was_open && continues_stored && !id.is_empty() && answered.insert(id);
                if !was_open && !is_stored {
                    found.add(&path, "result-without-call", format!("no call `{id}` waits for this output"));
                }
                let is_clients = matches!(kind, "function_call_output" | "custom_tool_call_output");
                if is_clients && !item["output"].is_string() && !item["output"].is_array() {
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
    let is_clients = matches!(kind, "function_call" | "custom_tool_call");
    if is_clients && id.is_empty() {
        found.add(path, "call-id", "the call has no id".to_owned());
    } else if !item.as_object().is_some_and(is_run_by_provider) && !open.open(id, kind) {
        // What the provider runs itself needs no output.
        found.add(path, "call-id", format!("the id `{id}` is that of another call that waits"));
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
