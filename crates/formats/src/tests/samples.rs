//! Small files of the agents that are written back.

#![allow(clippy::unwrap_used)]

use crate::claude_code::tests as claude_code;
use crate::codex::tests as codex;
use crate::pi::tests as pi;

/// Small files of the agents, with a compaction each.
pub(crate) fn samples() -> Vec<(&'static str, String)> {
    let long = "a result that is long enough to be worth an excerpt";
    let claude = [
        claude_code::start(),
        r#"{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"compactMetadata":{"trigger":"auto","preservedMessages":{"allUuids":["r2","a2"]}}}"#.to_owned() + "\n",
        claude_code::record("user", "s1", r#","isCompactSummary":true"#, &claude_code::said("what was")),
        claude_code::record("user", "u9", "", &claude_code::said("next")),
        claude_code::record("assistant", "a9", "", &claude_code::block("m9", r#"{"type":"tool_use","id":"t9","name":"Read","input":{"p":"x"}}"#)),
        claude_code::record("user", "r9", "", &claude_code::answer("t9", long)),
    ];
    let item = |json: &str| codex::record("response_item", json);
    let codex = [
        codex::record("session_meta", r#"{"id":"C","base_instructions":{"text":"be good"}}"#),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}"#),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"now"}]}"#),
        codex::record(
            "compacted",
            r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]},{"type":"compaction","encrypted_content":"X"}]}"#,
        ),
        item(r#"{"type":"reasoning","summary":[],"id":"rs"}"#),
        item(
            r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c1","status":"completed"}"#,
        ),
        item(&format!(r#"{{"type":"custom_tool_call_output","call_id":"c1","output":"{long}"}}"#)),
        item(
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}],"phase":"final"}"#,
        ),
    ];
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let pi = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned(),
        pi::record("1", "null", &user("do it")),
        pi::record("2", "\"1\"", &user("more")),
        r#"{"type":"compaction","id":"3","parentId":"2","summary":"so far","firstKeptEntryId":"2","tokensBefore":9}"#.to_owned() + "\n",
        pi::record("4", "\"3\"", r#"{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{"path":"a"}}]}"#),
        pi::record("5", "\"4\"", &format!(r#"{{"role":"toolResult","toolCallId":"t","toolName":"read","content":[{{"type":"text","text":"{long}"}}],"isError":false}}"#)),
        pi::record("6", "\"5\"", &user("thanks")),
    ]
    .concat();
    let first_version = pi
        .lines()
        .map(|line| {
            let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
            let fields = entry.as_object_mut().unwrap();
            ["parentId", "version"].iter().for_each(|name| drop(fields.remove(*name)));
            if fields["type"] != "session" {
                fields.remove("id");
            }
            if fields.remove("firstKeptEntryId").is_some() {
                fields.insert("firstKeptEntryIndex".to_owned(), 2.into());
            }
            entry.to_string() + "\n"
        })
        .collect();
    vec![("claude", claude.concat()), ("codex", codex.concat()), ("pi", pi), ("pi, first version", first_version)]
}
