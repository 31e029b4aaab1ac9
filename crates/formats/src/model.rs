//! Which model a recording names.

use serde_json::Value;

use crate::Format;

/// The model of a recording: what the file says of it last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedModel {
    /// Its name, as the agent spells it.
    pub name: Option<String>,
    /// Its context window in tokens, where the agent records that.
    pub window: Option<u32>,
}

impl RecordedModel {
    /// The model, with what it does not say from `earlier`. Another model's window is not taken over.
    #[must_use]
    pub fn or(self, earlier: &Self) -> Self {
        let is_same = self.name.is_none() || self.name == earlier.name;
        let window = self.window.or_else(|| earlier.window.filter(|_| is_same));
        Self { name: self.name.or_else(|| earlier.name.clone()), window }
    }
}

/// The largest document that is read as a whole for the name of its model. Source: twice the largest recorded session
/// that is one document.
const MOST_DOCUMENT: usize = 16 << 20;

/// Where a record names its model.
const NAMES: &[&str] = &[
    "/message/model", // Claude Code, Pi
    "/payload/model", // Codex
    "/data/newModel", // Copilot CLI
    "/data/selectedModel",
    "/modelId",      // Pi
    "/model",        // requests, Gemini CLI, Qwen Code
    "/info/modelID", // OpenCode
    "/info/model/modelID",
];

/// Where a record names the window: Codex, Qwen Code.
const WINDOWS: &[&str] = &["/payload/info/model_context_window", "/payload/model_context_window", "/contextWindowSize"];

/// Returns the model that a recording, or a part of one that begins with a whole line, names last; nothing where it names
/// none. Linear in what follows the last place that names it.
pub fn recorded_model(format: Format, bytes: &[u8]) -> RecordedModel {
    let mut found = RecordedModel::default();
    for line in bytes.rsplit(|byte| *byte == b'\n') {
        let Ok(text) = std::str::from_utf8(line) else { continue };
        if !text.contains("\"model") && !text.contains("Model\"") {
            continue;
        }
        let Ok(record) = serde_json::from_str::<Value>(text) else { continue };
        // An agent's helper may have another model.
        if record.get("isSidechain").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        found.window = found.window.or_else(|| window_in(&record));
        found.name = found.name.take().or_else(|| name_in(&record));
        if found.name.is_some() && (found.window.is_some() || format != Format::Codex) {
            break;
        }
    }
    if found.name.is_none() && bytes.len() <= MOST_DOCUMENT {
        found.name = serde_json::from_slice(bytes).ok().and_then(|document| name_in_document(&document));
    }
    found
}

/// The name of the model in a record; one in angle brackets means that no model was asked.
fn name_in(record: &Value) -> Option<String> {
    let named = NAMES.iter().filter_map(|place| record.pointer(place)?.as_str());
    named.map(str::trim).find(|name| !name.is_empty() && !name.starts_with('<')).map(str::to_owned)
}

fn window_in(record: &Value) -> Option<u32> {
    let named = WINDOWS.iter().filter_map(|place| record.pointer(place)?.as_u64());
    named.filter_map(|window| u32::try_from(window).ok()).find(|window| *window > 0)
}

/// The name of the model in a recording that is one JSON value: its own, or that of its newest message.
fn name_in_document(document: &Value) -> Option<String> {
    let messages = document.get("messages").unwrap_or(document).as_array();
    name_in(document).or_else(|| messages?.iter().rev().find_map(name_in))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_names_its_model() {
        let check = |format: Format, text: &str, name: Option<&str>, window: Option<u32>| {
            let expect = RecordedModel { name: name.map(str::to_owned), window };
            assert_eq!(recorded_model(format, text.as_bytes()), expect, "{text}");
        };
        let claude = concat!(
            r#"{"type":"assistant","message":{"role":"assistant","model":"claude-one","content":[]}}"#,
            "\n",
            r#"{"type":"assistant","message":{"role":"assistant","model":"claude-two","content":[]}}"#,
            "\n",
            r#"{"type":"assistant","isSidechain":true,"message":{"model":"claude-small","content":[]}}"#,
            "\n",
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[]}}"#,
            "\n",
            r#"{"type":"user","message":{"role":"user","content":"say \"model\": nothing"}}"#,
            "\n",
            r#"{"type":"assistant","message":{"mod"#,
        );
        check(Format::ClaudeCode, claude, Some("claude-two"), None);
        let codex = concat!(
            r#"{"type":"event_msg","payload":{"type":"task_started","model_context_window":258400}}"#,
            "\n",
            r#"{"type":"turn_context","payload":{"model":"gpt-x","cwd":"/"}}"#,
            "\n",
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#,
            "\n",
        );
        check(Format::Codex, codex, Some("gpt-x"), Some(258_400));
        check(Format::Pi, r#"{"type":"model_change","modelId":"m"}"#, Some("m"), None);
        check(Format::CopilotCli, r#"{"type":"session.model_change","data":{"newModel":"n"}}"#, Some("n"), None);
        check(Format::OpenaiChat, "{\n \"model\": \"q\",\n \"messages\": []\n}", Some("q"), None);
        check(Format::Opencode, r#"{"messages":[{"info":{"modelID":"a"}},{"info":{"modelID":"b"}}]}"#, Some("b"), None);
        check(Format::OpenaiChat, r#"[{"role":"user","content":"the \"model\""}]"#, None, None);
        check(Format::Aider, "# aider chat\n#### \"model\n", None, None);
        check(Format::ClaudeCode, "", None, None);
    }

    #[test]
    fn what_is_not_said_again_still_holds() {
        let of = |name: Option<&str>, window| RecordedModel { name: name.map(str::to_owned), window };
        let earlier = of(Some("a"), Some(100));
        let check = |new: RecordedModel, expect: RecordedModel| assert_eq!(new.clone().or(&earlier), expect, "{new:?}");
        check(of(None, None), earlier.clone());
        check(of(Some("a"), None), earlier.clone());
        check(of(None, Some(200)), of(Some("a"), Some(200)));
        check(of(Some("b"), None), of(Some("b"), None));
    }
}
