//! Gemini contents.

use serde_json::Value;

use crate::validate::findings::Findings;

/// A field in either of its two spellings.
fn field<'v>(value: &'v Value, camel: &str, snake: &str) -> &'v Value {
    value.get(camel).unwrap_or(&value[snake])
}

pub(crate) fn check(contents: &[Value], list_name: &str, found: &mut Findings) {
    if contents.is_empty() {
        found.add(list_name, "messages", "there is no content".to_owned());
    }
    // Calls of the last content of the model that wait: the id, if there is one, and the name.
    let mut waiting: Vec<(Option<&str>, &str)> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let path = format!("{list_name}[{index}]");
        let role = content["role"].as_str().unwrap_or("user");
        if !matches!(role, "user" | "model" | "function") {
            found.add(&path, "role", format!("`{role}` is not a role"));
        }
        if index == 0 && role == "model" {
            found.add(&path, "first-user", "the first content is the model's, not a user's".to_owned());
        }
        let parts = match &content["parts"] {
            Value::Array(parts) => parts.as_slice(),
            // One part in place of a list of one, as Google's own requests have it ("System instructions").
            part @ Value::Object(_) => std::slice::from_ref(part),
            _ => &[],
        };
        if parts.is_empty() {
            found.add(&path, "content", "the content has no parts".to_owned());
        }
        let of_model = role == "model";
        let responses = parts.iter().filter(|part| field(part, "functionResponse", "function_response").is_object());
        let is_rest = responses.count() < parts.len();
        let mut calls = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let path = format!("{path}.parts[{at}]");
            let call = field(part, "functionCall", "function_call");
            let response = field(part, "functionResponse", "function_response");
            if call.is_object() {
                if !of_model {
                    found.add(&path, "role", format!("a call does not go with the role {role}"));
                }
                let name = call["name"].as_str().unwrap_or_default();
                if name.is_empty() {
                    found.add(&path, "content", "the call names no function".to_owned());
                }
                if !matches!(call["args"], Value::Null | Value::Object(_)) {
                    found.add(&path, "arguments", "the arguments are not an object".to_owned());
                }
                calls.push((call["id"].as_str(), name));
            } else if response.is_object() {
                let (id, name) = (response["id"].as_str(), response["name"].as_str().unwrap_or_default());
                // By the id where both have it, else by the name: either may have none, or one of its own.
                let call = waiting.iter().position(|(call, tool)| call.is_some() && *call == id && *tool == name);
                let call = call.or_else(|| waiting.iter().position(|(_, tool)| *tool == name));
                match call.filter(|_| !of_model) {
                    Some(call) => drop(waiting.remove(call)),
                    None => {
                        let id = id.unwrap_or(name);
                        let message =
                            format!("no call `{id}` of `{name}` in the content before waits for this response");
                        found.add(&path, "result-without-call", message);
                    }
                }
                if !response["response"].is_object() {
                    found.add(&path, "content", "the response is not an object".to_owned());
                }
            } else {
                other(&path, part, found);
            }
        }
        if (of_model || is_rest) && !waiting.is_empty() {
            // Whatever is not a response ends the step.
            let names: Vec<&str> = waiting.drain(..).map(|(_, name)| name).collect();
            let message = format!("in front of this there is no response to the call of {}", names.join(", "));
            found.add(&path, "call-without-result", message);
        }
        if of_model && !calls.is_empty() && index > 0 && contents[index - 1]["role"] == "model" {
            found.add(&path, "alternation", "a content with calls follows one of the model".to_owned());
        }
        if of_model {
            waiting = calls;
        }
    }
}

/// A part that is neither a call nor a response.
fn other(path: &str, part: &Value, found: &mut Findings) {
    const KNOWN: [[&str; 2]; 6] = [
        ["inlineData", "inline_data"],
        ["fileData", "file_data"],
        ["executableCode", "executable_code"],
        ["codeExecutionResult", "code_execution_result"],
        ["toolCall", "tool_call"],
        ["toolResponse", "tool_response"],
    ];
    if let Some(text) = part["text"].as_str() {
        if text.trim().is_empty() && field(part, "thoughtSignature", "thought_signature").is_null() {
            found.add(path, "content", "the text is empty".to_owned());
        }
        return;
    }
    if !KNOWN.iter().any(|[camel, snake]| field(part, camel, snake).is_object()) {
        found.add(path, "content", "the part has none of the fields that a part has".to_owned());
    }
}

/// The system prompt: a content of texts.
pub(crate) fn system(request: &Value, found: &mut Findings) {
    let system = field(request, "systemInstruction", "system_instruction");
    let parts = system["parts"].as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(&system["parts"]));
    let is_text = |part: &Value| part["text"].as_str().is_some_and(|text| !text.trim().is_empty());
    if !matches!(system, Value::Null | Value::String(_)) && !parts.iter().all(is_text) {
        found.add("systemInstruction", "content", "the system prompt is not a content of texts".to_owned());
    }
}

/// Whether a definition of tools is in this format: declarations of functions, or a tool of Google's own.
pub(crate) fn is_tool(tool: &Value) -> bool {
    let declarations = field(tool, "functionDeclarations", "function_declarations");
    let is_named = |function: &Value| function["name"].is_string();
    match declarations.as_array() {
        Some(declarations) => declarations.iter().all(is_named),
        None => ["type", "name", "function", "input_schema"].into_iter().all(|name| tool.get(name).is_none()),
    }
}
