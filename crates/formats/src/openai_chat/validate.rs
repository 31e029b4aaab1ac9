//! OpenAI chat completions.

use serde_json::Value;

use crate::validate::findings::{Findings, OpenCalls, arguments};

pub(crate) fn check(messages: &[Value], list_name: &str, found: &mut Findings) {
    let mut open = OpenCalls::default();
    let mut started = false;
    for (index, message) in messages.iter().enumerate() {
        let path = format!("{list_name}[{index}]");
        let role = message["role"].as_str().unwrap_or_default();
        if !matches!(role, "tool" | "function") {
            open.close(&path, found);
        }
        if !started && !matches!(role, "system" | "developer") {
            started = true;
            if role != "user" {
                found.add(&path, "first-user", format!("the first message is the {role}'s, not a user's"));
            }
        }
        match role {
            "system" | "developer" | "user" => content(&path, &message["content"], true, found),
            "assistant" => assistant(&path, message, &mut open, found),
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                if !open.answer(id, "tool") {
                    found.add(&path, "result-without-call", format!("no call `{id}` waits for this result"));
                }
                content(&path, &message["content"], false, found);
            }
            "function" => {
                let name = message["name"].as_str().unwrap_or_default();
                if !open.answer(name, "function") {
                    found.add(&path, "result-without-call", format!("no call of `{name}` waits for this result"));
                }
                content(&path, &message["content"], false, found);
            }
            other => found.add(&path, "role", format!("`{other}` is not a role")),
        }
    }
}

fn assistant(path: &str, message: &Value, open: &mut OpenCalls, found: &mut Findings) {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !message["tool_calls"].is_null() && calls.is_empty() {
        found.add(path, "content", "`tool_calls` is not a list of calls".to_owned());
    }
    for (index, call) in calls.iter().enumerate() {
        let path = format!("{path}.tool_calls[{index}]");
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() {
            found.add(&path, "call-id", "the call has no id".to_owned());
        }
        let custom = call["type"] == "custom";
        let function = if custom { &call["custom"] } else { &call["function"] };
        if function["name"].as_str().is_none_or(str::is_empty) {
            found.add(&path, "content", "the call names no tool".to_owned());
        }
        if !custom {
            arguments(&format!("{path}.function.arguments"), &function["arguments"], found);
        }
        // "Duplicate value for 'tool_call_id'", says OpenAI to their results.
        if !open.open(id, "tool") && !id.is_empty() {
            found.add(&path, "call-id", format!("the id `{id}` is that of another call of the message"));
        }
    }
    let legacy = &message["function_call"];
    if let Some(name) = legacy["name"].as_str() {
        arguments(&format!("{path}.function_call.arguments"), &legacy["arguments"], found);
        open.open(name, "function");
    }
    let silent = message["content"].is_null() || message["content"] == "";
    let says_else =
        !calls.is_empty() || legacy.is_object() || message["refusal"].is_string() || message["audio"].is_object();
    if !(silent && says_else) {
        content(path, &message["content"], true, found);
    }
}

/// Content is a text or a list of parts; a result's text may be empty.
fn content(path: &str, content: &Value, must_say: bool, found: &mut Findings) {
    match content {
        Value::String(text) if must_say && text.is_empty() => {
            found.add(path, "content", "the message is empty".to_owned());
        }
        Value::String(_) => {}
        Value::Array(parts) if !parts.is_empty() => {
            for (index, part) in parts.iter().enumerate() {
                let says = match part["type"].as_str().unwrap_or_default() {
                    "text" => part["text"].as_str().is_some_and(|text| !text.is_empty()),
                    "image_url" => part["image_url"]["url"].is_string(),
                    "input_audio" | "file" | "refusal" => true,
                    _ => false,
                };
                if !says {
                    let message = "the part is empty or of an unknown type".to_owned();
                    found.add(&format!("{path}.content[{index}]"), "content", message);
                }
            }
        }
        _ => found.add(path, "content", "there is no content".to_owned()),
    }
}
