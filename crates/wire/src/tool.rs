//! Calls and results of tools of any kind, as their JSON has them.

use serde_json::{Map, Value};

/// Fields around a call or a result that say nothing of what is asked for or came of it.
const ENVELOPE: [&str; 14] = [
    "type",
    "id",
    "call_id",
    "tool_use_id",
    "status",
    "name",
    "namespace",
    "server_label",
    "server_name",
    "caller",
    "agent",
    "execution",
    "created_by",
    "cache_control",
];

/// Fields of a call, or a result, that hold what came of it.
const OUTCOME: [&str; 7] = ["output", "outputs", "result", "results", "error", "tools", "content"];

/// Fields whose text is the outcome itself and needs no name in front.
const PLAIN: [&str; 8] = ["text", "output", "stdout", "stderr", "content", "logs", "result", "outputs"];

/// The name of the tool that a call of the kind `kind` is of: with the name of its server in front, where it has one; the kind
/// itself, without its end, where it is a provider's own tool.
pub fn name_of(call: &Map<String, Value>, kind: &str) -> String {
    let field = |name: &str| call.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let server = ["namespace", "server_label", "server_name"].into_iter().find_map(field);
    let own = field("name").unwrap_or_else(|| kind.trim_end_matches("_call"));
    match server {
        Some(server) if server.ends_with(['_', '.', '/']) => format!("{server}{own}"),
        Some(server) => format!("{server}__{own}"),
        None => own.to_owned(),
    }
}

/// What a call of a provider's own tool asks for: the value of its one field for that, or all of them as an object. An
/// argument that is JSON in a string is the JSON.
pub fn arguments_of(call: &Map<String, Value>) -> Value {
    let asked = |name: &&String| !ENVELOPE.contains(&name.as_str()) && !OUTCOME.contains(&name.as_str());
    let fields: Map<String, Value> = call
        .iter()
        .filter(|(name, value)| asked(name) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    match fields.get("arguments").or_else(|| fields.get("action")).or_else(|| fields.get("input")) {
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(json @ Value::Object(_)) => json,
            _ => Value::Object(fields),
        },
        Some(asked @ Value::Object(_)) => asked.clone(),
        _ => Value::Object(fields),
    }
}

/// Tells whether the text of a field, by the field's name and the text, is media.
pub type IsMedia = fn(&str, &str) -> bool;

/// What came of a call: its texts, and what is media in it.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The texts in order, each a line or more; a value that is not its tool's text has its field's name in front.
    pub texts: Vec<String>,
    /// Data URLs, and base64 of unknown type, in order.
    pub media: Vec<&'a str>,
    is_media: IsMedia,
}

impl<'a> Outcome<'a> {
    /// Returns an outcome without anything in it.
    pub fn new(is_media: IsMedia) -> Self {
        Self { texts: Vec::new(), media: Vec::new(), is_media }
    }

    /// Reads what a result, or a call with its outcome in it, holds. Linear.
    pub fn read(part: &'a Map<String, Value>, is_media: IsMedia) -> Self {
        let mut outcome = Self::new(is_media);
        for name in OUTCOME {
            if let Some(value) = part.get(name) {
                outcome.add(name, value);
            }
        }
        outcome
    }

    /// Adds a value of the field `name`. Ids, kinds and what is encrypted say nothing to a reader.
    pub fn add(&mut self, name: &str, value: &'a Value) {
        let is_mute = matches!(name, "type" | "id" | "status" | "signature" | "detail")
            || name.ends_with("_id")
            || name.starts_with("encrypted_");
        match value {
            _ if is_mute => {}
            Value::Null => {}
            Value::String(text) if (self.is_media)(name, text) => self.media.push(text),
            Value::String(text) if text.is_empty() => {}
            Value::String(text) if PLAIN.contains(&name) => self.texts.push(text.clone()),
            Value::String(text) => self.texts.push(format!("{name}: {text}")),
            Value::Bool(_) | Value::Number(_) => self.texts.push(format!("{name}: {value}")),
            Value::Array(values) => values.iter().for_each(|value| self.add(name, value)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.add(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_call_asks_for() {
        let check = |call: Value, name: &str, arguments: Value| {
            let kind = call["type"].as_str().unwrap();
            let fields = call.as_object().unwrap();
            assert_eq!((name_of(fields, kind).as_str(), arguments_of(fields)), (name, arguments), "{call}");
        };
        let asked = json!({"commands": ["ls"]});
        check(json!({"type": "shell_call", "id": "s", "call_id": "c", "action": asked}), "shell", asked.clone());
        check(
            json!({"type": "mcp_call", "server_label": "deps", "name": "pin", "arguments": "{\"v\":1}", "output": "x"}),
            "deps__pin",
            json!({"v": 1}),
        );
        check(
            json!({"type": "file_search_call", "id": "f", "queries": ["a"], "results": [{"text": "x"}]}),
            "file_search",
            json!({"queries": ["a"]}),
        );
        check(json!({"type": "web_search_call", "id": "w"}), "web_search", json!({}));
    }

    #[test]
    fn what_came_of_it() {
        let check = |part: Value, texts: &[&str], media: usize| {
            let outcome =
                Outcome::read(part.as_object().unwrap(), |_, text| text.starts_with("data:") || text.len() > 500);
            let found: Vec<&str> = outcome.texts.iter().map(String::as_str).collect();
            assert_eq!((found.as_slice(), outcome.media.len()), (texts, media), "{part}");
        };
        let run = json!([{"stdout": "out", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}]);
        check(json!({"type": "shell_call_output", "call_id": "c", "output": run}), &["out", "exit_code: 2"], 0);
        check(json!({"output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA"}}), &[], 1);
        check(json!({"type": "image_generation_call", "result": "A".repeat(600)}), &[], 1);
        let found = json!([{"type": "web_search_result", "url": "https://a", "title": "t", "encrypted_content": "x"}]);
        check(json!({"type": "web_search_tool_result", "content": found}), &["url: https://a", "title: t"], 0);
        check(json!({"type": "mcp_tool_result", "content": [{"type": "text", "text": "x"}]}), &["x"], 0);
    }
}
