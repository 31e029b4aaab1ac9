//! Claude Code's function hook, which gets the messages and gives those behind the compaction.

use epitome::formats::Profile;
use epitome_fit::{FitOptions, FitPiece, FitRequest, FitStatus, Fitted, fit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::configuration;
use crate::failure::Failure;
use crate::render::text::number;

/// The share of the messages' tokens that stays: the cache is lost with every compaction, so the next is to be far away.
const SHARE: f64 = 0.3;

#[derive(Debug, Deserialize)]
struct HookInput {
    messages: Vec<AgentMessage>,
}

/// A message as the hook has it. A call is with the model's message, its result with the next one of the user's side.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentMessage {
    role: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    tool_uses: Vec<ToolUse>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_results: Vec<ToolOutput>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct ToolUse {
    tool_use_id: String,
    tool: String,
    #[serde(default)]
    input: Value,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct ToolOutput {
    tool_use_id: String,
    #[serde(default)]
    text: String,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// The messages behind a compaction, as `{"messages": […], "note"}`: the number of a message that stays as it is, or a
/// message. Without `messages` where nothing can be saved: `note` says why.
pub(super) fn compact(input: &str) -> Result<String, Failure> {
    let input: HookInput = serde_json::from_str(input).map_err(|error| {
        let error = anyhow::Error::new(error).context("what the agent said on standard input is not understood");
        Failure::usage(error).with_help("this command is called by Claude Code; `epitome compact FILE` is for people")
    })?;
    let list: Vec<String> = input.messages.iter().map(|message| wire(message).to_string()).collect();
    let runtime = configuration::build_without_model(epitome::Config::default(), &epitome::registry())?;
    let fitted = |tokens: u32| {
        let request = FitRequest::new(&list);
        fit(&runtime, Profile::Anthropic, FitOptions::once(tokens), &request).map_err(Failure::usage)
    };
    let before = fitted(u32::MAX)?.tokens_before;
    let after = fitted(((f64::from(before) * SHARE) as u32).max(1))?;
    let answer = match after.status {
        FitStatus::Compacted if after.tokens_after < before => {
            let messages = pieces(&after, &input.messages)?;
            let note = format!("epitome compacted {} tokens to {}", number(before), number(after.tokens_after));
            json!({"messages": messages, "note": note})
        }
        _ => json!({"note": after.detail.unwrap_or("nothing to save")}),
    };
    Ok(answer.to_string())
}

/// A message in Anthropic's form.
fn wire(message: &AgentMessage) -> Value {
    let mut content: Vec<Value> = Vec::new();
    for result in &message.tool_results {
        let mut block = json!({"type": "tool_result", "tool_use_id": result.tool_use_id, "content": result.text});
        if result.more.get("isError") == Some(&Value::Bool(true)) {
            block["is_error"] = true.into();
        }
        content.push(block);
    }
    if !message.text.is_empty() || message.tool_uses.is_empty() && content.is_empty() {
        content.push(json!({"type": "text", "text": message.text}));
    }
    for call in &message.tool_uses {
        let input = if call.input.is_object() { call.input.clone() } else { json!({}) };
        content.push(json!({"type": "tool_use", "id": call.tool_use_id, "name": call.tool, "input": input}));
    }
    let role = if message.role == "assistant" { "assistant" } else { "user" };
    json!({"role": role, "content": content})
}

/// The result, a message or the number of one for each.
fn pieces(fitted: &Fitted, came: &[AgentMessage]) -> Result<Vec<Value>, Failure> {
    let mut messages = Vec::new();
    for piece in &fitted.pieces {
        match piece {
            FitPiece::Keep(range) => messages.extend(range.clone().map(Value::from)),
            FitPiece::Edit { index, message, .. } => messages.push(told(message, came.get(*index))?),
            FitPiece::Insert { message, .. } => messages.push(told(message, None)?),
        }
    }
    Ok(messages)
}

/// A message in Anthropic's form, as the hook gives it back. What the agent keeps of a result beside its text stays.
fn told(message: &str, came: Option<&AgentMessage>) -> Result<Value, Failure> {
    let message: Value = serde_json::from_str(message)?;
    let text_of = |content: &Value| match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<&str>>().join("\n"),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).cloned().collect::<Vec<Value>>();
    let built = AgentMessage {
        role: word(&message["role"]),
        text: text_of(&message["content"]),
        tool_uses: of("tool_use")
            .iter()
            .map(|block| ToolUse {
                tool_use_id: word(&block["id"]),
                tool: word(&block["name"]),
                input: block["input"].clone(),
            })
            .collect(),
        tool_results: of("tool_result")
            .iter()
            .map(|block| {
                let id = word(&block["tool_use_id"]);
                let old = came.and_then(|came| came.tool_results.iter().find(|result| result.tool_use_id == id));
                let more = old.map(|old| old.more.clone()).unwrap_or_default();
                ToolOutput { text: text_of(&block["content"]), tool_use_id: id, more }
            })
            .collect(),
    };
    Ok(serde_json::to_value(built)?)
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
