//! What a host loaded as instructions is marked when it is read, in every wrapping of the agents.

use serde_json::{Value, json};

use super::*;

/// The rule in all of them.
const RULE: &str = "- Never use tabs.";

/// Reads `records` (one of them: a document), and compares what is marked: of each block its message's role and origin, and the
/// first line that is more than a tag.
#[track_caller]
fn check(records: &[Value], expect: &[&str]) {
    let input: Vec<String> = records.iter().map(Value::to_string).collect();
    let loaded = read(input.join("\n").into_bytes(), ReadOptions::default()).unwrap();
    let mut marked = Vec::new();
    for entry in loaded.sessions[0].session.view() {
        for block in &entry.message.blocks {
            let text = block.excerptable().map(|text| text.to_string()).unwrap_or_default();
            for range in &block.instructions {
                let part = &text[range.start as usize..range.end as usize];
                assert!(part.contains(RULE), "{part}");
                let first = part.lines().find(|line| !line.starts_with('<') && !line.is_empty()).unwrap_or_default();
                marked.push(format!("{}/{:?}: {first}", entry.message.role.as_str(), entry.message.origin));
            }
        }
    }
    assert_eq!(marked, expect);
}

#[test]
fn codex() {
    let item =
        |payload: Value| json!({"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload});
    let user = |text: &str| {
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
    };
    let meta = json!({"type": "session_meta", "payload": {"id": "6c621d1a-0513-4a78-a8d3-7d9269a9da8e", "cwd": "/w",
        "timestamp": "2026-01-01T00:00:00Z", "originator": "codex_cli_rs", "cli_version": "0.169.0"}});
    check(
        &[
            meta,
            user(&format!("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n{RULE}\n</INSTRUCTIONS>")),
            user("<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
            user(&format!("<skill>\n<name>tabs</name>\n{RULE}\n</skill>")),
            user("go on"),
        ],
        &["user/Injected: # AGENTS.md instructions for /w", "user/Injected: - Never use tabs."],
    );
}

#[test]
fn claude_code() {
    let record = |number: usize, kind: &str, more: Value| {
        let mut record = json!({"type": kind, "uuid": format!("u{number}"), "sessionId": "s", "version": "2.1.332",
            "parentUuid": (number > 1).then(|| format!("u{}", number - 1)), "timestamp": "2026-01-01T00:00:00Z"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let user = |number: usize, text: &str, more: Value| {
        let mut said = json!({"message": {"role": "user", "content": text}});
        said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record(number, "user", said)
    };
    let attached = |number: usize, attachment: Value| record(number, "attachment", json!({"attachment": attachment}));
    let rendered = |number: usize, kind: &str, text: &str| {
        let rendered = json!([{"role": "user", "content": text}]);
        record(number, "attachment", json!({"attachment": {"type": kind}, "rendered": rendered}))
    };
    check(
        &[
            user(1, "go on", json!({})),
            attached(
                2,
                json!({"type": "nested_memory", "path": "/w/CLAUDE.md", "content": {"path": "/w/CLAUDE.md", "content": RULE}}),
            ),
            rendered(3, "relevant_memories", &format!("Words of a later version.\n{RULE}")),
            rendered(4, "todo_reminder", &format!("Nothing to do.\n{RULE}")),
            user(5, "<command-message>tabs</command-message>\n<command-name>/tabs</command-name>", json!({})),
            user(6, &format!("Look at all files.\n{RULE}"), json!({"isMeta": true})),
            user(7, &format!("Words of a skill.\n{RULE}"), json!({"isMeta": true, "sourceToolUseID": "t"})),
            user(8, &format!("A hint.\n{RULE}"), json!({"isMeta": true})),
        ],
        &[
            "user/Injected: Contents of /w/CLAUDE.md:",
            "user/Injected: Words of a later version.",
            "user/Injected: Look at all files.",
            "user/Injected: Words of a skill.",
        ],
    );
}

#[test]
fn requests() {
    let of = |messages: Value| json!({"model": "m", "messages": messages});
    let reminder = format!(
        "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n{RULE}\n</system-reminder>"
    );
    let nested = format!("<system-reminder>\nContents of /w/web/CLAUDE.md:\n\n{RULE}\n</system-reminder>");
    let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/w/web/a.ts"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": format!("1\ta\n\n{nested}")});
    check(
        &[json!({"model": "claude-opus-5", "max_tokens": 9, "messages": [
            {"role": "user", "content": [{"type": "text", "text": reminder}, {"type": "text", "text": "go on"}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]})],
        &[
            "user/Typed: As you answer the user's questions, you can use the following context:",
            "tool/Tool: Contents of /w/web/CLAUDE.md:",
        ],
    );
    // aider, over an OpenAI-compatible interface
    let conventions =
        format!("Here are some READ ONLY files, provided for your reference.\nDo not edit these files!\n\n{RULE}");
    check(
        &[of(json!([
            {"role": "user", "content": conventions},
            {"role": "assistant", "content": "Ok, I will use these files as references."},
            {"role": "user", "content": "go on"},
        ]))],
        &["user/Injected: Here are some READ ONLY files, provided for your reference."],
    );
    let context = format!(
        "<session_context>\n--- Context from: GEMINI.md ---\n{RULE}\n--- End of Context from: GEMINI.md ---\n</session_context>"
    );
    check(
        &[
            json!({"contents": [{"role": "user", "parts": [{"text": context}]}, {"role": "user", "parts": [{"text": "go on"}]}]}),
        ],
        &["user/Injected: --- Context from: GEMINI.md ---"],
    );
}

#[test]
fn open_hands() {
    let event = |id: usize, more: Value| {
        let mut event = json!({"id": id, "timestamp": "2026-01-01T00:00:00", "source": "environment"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let known = json!([{"name": "tabs", "trigger": "tabs", "content": RULE}]);
    check(
        &[json!([
            event(1, json!({"source": "user", "action": "message", "args": {"content": "go on"}})),
            event(2, json!({"action": "recall", "args": {"recall_type": "workspace_context"}})),
            event(
                3,
                json!({"observation": "recall", "content": "Added workspace context", "extras": {"repo_instructions": RULE}})
            ),
            event(
                4,
                json!({"observation": "recall", "content": "Added knowledge", "extras": {"microagent_knowledge": known}})
            ),
            event(5, json!({"observation": "recall", "content": "Added nothing", "extras": {"repo_instructions": ""}})),
        ])],
        &[
            "user/Injected: - Never use tabs.",
            "user/Injected: The following information has been included based on a keyword match for \"tabs\".",
        ],
    );
}
