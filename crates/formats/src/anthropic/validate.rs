//! Anthropic messages.

use std::collections::HashSet;

use serde_json::Value;

use epitome_wire::anthropic::takes_system_among_messages;

use crate::validate::findings::{Findings, OpenCalls};

/// Checks the messages of a request for the model `model`, where that is known.
pub(crate) fn check(messages: &[Value], list_name: &str, model: Option<&str>, found: &mut Findings) {
    let mut state = State::default();
    let takes_instructions = model.is_none_or(takes_system_among_messages);
    let first = messages.iter().position(|message| message["role"] != "system");
    if messages.is_empty() {
        found.add(list_name, "messages", "there is no message".to_owned());
    }
    for (index, message) in messages.iter().enumerate() {
        let path = format!("{list_name}[{index}]");
        let role = message["role"].as_str().unwrap_or_default();
        match role {
            "user" | "assistant" => {}
            "system" if !takes_instructions => {
                let message = "this model takes the system prompt beside the messages alone".to_owned();
                found.add(&path, "system-in-messages", message);
            }
            // It may stand anywhere ("Per-message effort").
            "system" if is_effort_alone(message) => continue,
            "system" => {
                let behind = messages[..index].iter().rfind(|before| !is_effort_alone(before));
                let next = messages[index + 1..].iter().find(|next| !is_effort_alone(next));
                if !behind.is_some_and(may_precede_system) || next.is_some_and(|next| next["role"] != "assistant") {
                    let message =
                        "a system message stands behind a user's, and in front of one of the model's".to_owned();
                    found.add(&path, "system-in-messages", message);
                }
            }
            other => found.add(&path, "role", format!("`{other}` is not a role")),
        }
        // A compaction stands for what the user said in front of it.
        let is_compacted = message["content"][0]["type"] == "compaction";
        if Some(index) == first && role != "user" && !is_compacted {
            found.add(&path, "first-user", format!("the first message is the {role}'s, not a user's"));
        }
        // "Consecutive `user` or `assistant` turns in your request will be combined into a single turn" (Messages API).
        let goes_on = index > 0 && messages[index - 1]["role"] == message["role"];
        let ends = messages.get(index + 1).is_none_or(|next| next["role"] != message["role"]);
        if role == "assistant" && !goes_on {
            state.open.close(&path, found);
        }
        let single;
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.as_slice(),
            text @ Value::String(_) => {
                single = serde_json::json!({"type": "text", "text": text});
                std::slice::from_ref(&single)
            }
            _ => &[],
        };
        if blocks.is_empty() {
            found.add(&path, "content", "the message is empty".to_owned());
        }
        if role == "system" {
            continue;
        }
        state.results_over &= goes_on;
        for (at, block) in blocks.iter().enumerate() {
            state.block(&format!("{path}.content[{at}]"), role, block, found);
        }
        // A step whose results have come in part is still being worked on.
        let awaits_more = index + 1 == messages.len() && !state.results_over;
        if role == "user" && ends && !awaits_more {
            state.open.close(&path, found);
        }
    }
}

/// Whether a system message sets the effort and says nothing. One that sets nothing either is refused
/// (`BetaSystemMessageOutputConfigParam` of anthropic-sdk-python 2.14).
fn is_effort_alone(message: &Value) -> bool {
    let is_silent = match &message["content"] {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        _ => false,
    };
    message["role"] == "system" && is_silent && message["output_config"]["effort"].is_string()
}

/// Whether a system message may follow a message: a user's, or one of the model's that waits for a tool of the provider's
/// (Anthropic's documentation of "Mid-conversation system messages").
fn may_precede_system(message: &Value) -> bool {
    let last = message["content"].as_array().and_then(|blocks| blocks.last());
    message["role"] == "user" || last.is_some_and(|block| block["type"] == "server_tool_use")
}

/// The system prompt: a text or text blocks.
pub(crate) fn system(system: &Value, found: &mut Findings) {
    let is_text =
        |block: &Value| block["type"] == "text" && block["text"].as_str().is_some_and(|text| !text.trim().is_empty());
    let fits = match system {
        Value::Null | Value::String(_) => true,
        Value::Array(blocks) => blocks.iter().all(is_text),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if !fits {
        found.add("system", "content", "the system prompt is neither a text nor a list of texts".to_owned());
    }
}

#[derive(Default)]
struct State {
    open: OpenCalls,
    ids: HashSet<String>,
    /// The calls of the provider's own tools that have no result yet: programs among them may call.
    running: HashSet<String>,
    /// Whether the message holds something else already: its results come first.
    results_over: bool,
}

impl State {
    fn block(&mut self, path: &str, role: &str, block: &Value, found: &mut Findings) {
        let kind = block["type"].as_str().unwrap_or_default();
        match (kind, role) {
            ("tool_result", "user") => self.result(path, block, found),
            ("tool_use", "assistant") => self.call(path, block, found),
            ("tool_result" | "tool_use", _) => {
                found.add(path, "role", format!("a `{kind}` does not go with the role {role}"));
            }
            ("text", _) if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
                found.add(path, "content", "the text is empty".to_owned());
            }
            ("thinking", "assistant") if block["signature"].as_str().is_none_or(str::is_empty) => {
                found.add(path, "content", "the reasoning is not signed".to_owned());
            }
            ("image" | "document", "user") if !block["source"].is_object() => {
                found.add(path, "content", "the media has no source".to_owned());
            }
            ("server_tool_use", "assistant") => {
                self.running.extend(block["id"].as_str().map(str::to_owned));
            }
            (kind, "assistant") if kind.ends_with("_tool_result") => {
                self.running.remove(block["tool_use_id"].as_str().unwrap_or_default());
            }
            ("", _) => found.add(path, "content", "the block has no type".to_owned()),
            _ => {}
        }
        self.results_over |= kind != "tool_result";
    }

    fn result(&mut self, path: &str, block: &Value, found: &mut Findings) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        if !self.open.answer(id, "tool_use") {
            let message = format!("no call `{id}` in the message before this one waits for this result");
            found.add(path, "result-without-call", message);
        }
        if self.results_over {
            found.add(path, "results-first", "a result stands behind something else in its message".to_owned());
        }
        let parts = block["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        if parts.iter().any(|part| part["type"] == "text" && part["text"].as_str().is_none_or(str::is_empty)) {
            found.add(path, "content", "the result holds an empty text block".to_owned());
        }
    }

    fn call(&mut self, path: &str, block: &Value, found: &mut Findings) {
        let id = block["id"].as_str().unwrap_or_default();
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if id.is_empty() || !id.bytes().all(valid) {
            found.add(path, "call-id", format!("`{id}` is not an id: it may have letters, digits, `_` and `-`"));
        } else if !self.ids.insert(id.to_owned()) {
            found.add(path, "call-id", format!("the id `{id}` is taken by an earlier call"));
        }
        if block["name"].as_str().is_none_or(str::is_empty) {
            found.add(path, "content", "the call names no tool".to_owned());
        }
        if !block["input"].is_object() {
            found.add(path, "arguments", "the input is not an object".to_owned());
        }
        // "Programmatic tool calling": the program is called in the same message or before it, and waits.
        if let Some(program) = block["caller"]["tool_id"].as_str().filter(|program| !self.running.contains(*program)) {
            found.add(path, "caller", format!("the call is made by `{program}`, which is no call that is running"));
        }
        self.open.open(id, "tool_use");
    }
}
