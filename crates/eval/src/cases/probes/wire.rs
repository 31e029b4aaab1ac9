//! A view as it is sent to a provider, and as one text in which probes are searched for.

use epitome::formats::{Wire, render};
use epitome::session::{Entry, Message, Origin, Role};
use epitome::strategy::TokenCounter as _;
use serde_json::Value;

use crate::cases::cut::COUNTER;

/// Tokens of a message beside its texts.
const FRAME: u32 = 4;
/// The least room of a budget beside what must stay, in tokens.
const ROOM: u32 = 500;

/// Returns the messages of a view in the form of OpenAI chat; the error says what is wrong with the rendering.
pub fn messages_of(entries: &[Entry], tools: Option<&str>) -> Result<Vec<Value>, String> {
    let rendered = render(entries, Wire::OpenaiChat, tools, None);
    let mut request: Value = serde_json::from_str(&rendered.json).map_err(|error| error.to_string())?;
    match request.get_mut("messages").map(Value::take) {
        Some(Value::Array(messages)) => Ok(messages),
        _ => Err("the rendering has no messages".to_owned()),
    }
}

/// Returns a text as a message of the user's side.
pub(crate) fn message_of(text: &str) -> Message {
    Message::text("handoff", Role::User, Origin::Typed, text)
}

/// Returns the text of a message's content: of parts, one line each.
fn content_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            parts.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the calls of a message: id, tool, arguments.
fn calls_of(message: &Value) -> impl Iterator<Item = [&str; 3]> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().map(|call| {
        let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        [text("/id"), text("/function/name"), text("/function/arguments")]
    })
}

fn role_of(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the tokens of messages in the form of OpenAI chat, by `o200k_base`: 4 for each, its text, and the name, the
/// arguments and the id of each call and the id of a result. Linear.
pub fn context_tokens(messages: &[Value]) -> u32 {
    let of = |message: &Value| {
        let answered = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
        let calls: u32 = calls_of(message).flatten().map(|text| COUNTER.count(text)).sum();
        FRAME + COUNTER.count(&content_of(message)) + calls + COUNTER.count(answered)
    };
    messages.iter().map(of).sum()
}

/// Returns the tokens that a budget needs at least: the system messages, the newest message of the user's side, all
/// from the model's newest message on, and 500 tokens. Linear.
pub(crate) fn budget_floor(messages: &[Value]) -> u32 {
    let of = |messages: &[Value]| context_tokens(messages);
    let system: u32 = messages
        .iter()
        .filter(|message| matches!(role_of(message), "system" | "developer"))
        .map(|message| of(std::slice::from_ref(message)))
        .sum();
    let newest = |role: &str| messages.iter().rposition(|message| role_of(message) == role).unwrap_or(0);
    let user = messages.get(newest("user")).map_or(0, |message| of(std::slice::from_ref(message)));
    system + user + of(&messages[newest("assistant").min(messages.len())..]) + ROOM
}

/// Returns messages as one text: their texts, and the calls with their arguments decoded, a line each. Linear.
pub fn context_text(messages: &[Value]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for message in messages {
        let text = content_of(message);
        if !text.is_empty() {
            lines.push(text);
        }
        for [_, name, arguments] in calls_of(message) {
            let decoded = serde_json::from_str::<Value>(arguments).map(|value| decode_text(&value));
            lines.push(format!("{name} {}", decoded.unwrap_or_else(|_| arguments.to_owned())));
        }
    }
    lines.join("\n")
}

/// Returns a value as words: `name: value` for the fields of objects, blanks between.
fn decode_text(value: &Value) -> String {
    let joined = |words: Vec<String>| words.join(" ");
    match value {
        Value::Object(fields) => {
            joined(fields.iter().map(|(name, field)| format!("{name}: {}", decode_text(field))).collect())
        }
        Value::Array(items) => joined(items.iter().map(decode_text).collect()),
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn messages() -> Vec<Value> {
        let text = r#"[
            {"role":"system","content":"Be brief."},
            {"role":"user","content":[{"type":"text","text":"Read it."},{"type":"text","text":"All."}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":
                {"name":"read","arguments":"{\"path\":\"a.md\",\"lines\":[1,20],\"raw\":true,\"of\":null}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"one two"},
            {"role":"assistant","content":"Done.","tool_calls":[{"id":"c2","type":"function","function":
                {"name":"patch","arguments":"*** no JSON"}}]}]"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_context_is_one_text() {
        assert_eq!(
            context_text(&messages()),
            "Be brief.\nRead it.\nAll.\nread path: a.md lines: 1 20 raw: true of: none\none two\nDone.\npatch *** no JSON"
        );
    }

    #[test]
    fn tokens_and_floor() {
        let messages = messages();
        let of = |range: std::ops::Range<usize>| context_tokens(&messages[range]);
        // "Be brief." is three tokens, "one two" two and "c1" two.
        assert_eq!((of(0..1), of(3..4)), (4 + 3, 4 + 2 + 2));
        assert_eq!(budget_floor(&messages), of(0..1) + of(1..2) + of(4..5) + 500);
        assert_eq!(budget_floor(&messages[..4]), of(0..1) + of(1..2) + of(2..4) + 500);
        assert_eq!(budget_floor(&[]), 500);
    }
}
