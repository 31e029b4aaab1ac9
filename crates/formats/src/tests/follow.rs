#![allow(clippy::unwrap_used)]
use serde_json::{Value, json};

use super::*;
use crate::{ReadOptions, read};

fn lines(records: &[Value]) -> Vec<String> {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A session of Claude Code: one message over several records, a copied record, both kinds of compaction, a damaged line.
fn claude_code() -> Vec<String> {
    let record = |uuid: &str, kind: &str, message: Value| json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "s", "isSidechain": false, "message": message});
    let user = |uuid: &str, text: &str| record(uuid, "user", json!({"role": "user", "content": text}));
    let said = |uuid: &str, id: &str, block: Value| {
        record(uuid, "assistant", json!({"id": id, "role": "assistant", "content": [block]}))
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "a.rs"}});
    let result = |uuid: &str, id: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "fn main() {}"}]);
        record(uuid, "user", json!({"role": "user", "content": content}))
    };
    let mut summary = user("s1", "This session is being continued.");
    summary["isCompactSummary"] = true.into();
    let mut all = lines(&[
        user("u1", "Tidy up."),
        said("a1", "m1", text("I look.")),
        said("a2", "m1", call("c1")),
        said("a3", "m1", call("c2")),
        result("r1", "c1"),
        said("a4", "m1", text("And on.")),
        result("r2", "c2"),
        user("u1", "Tidy up."),
        json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "b0", "sessionId": "s", "isSidechain": false,
            "microcompactMetadata": {"compactedToolIds": ["c1"], "preTokens": 900}}),
        said("a5", "m2", text("Done.")),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b1", "sessionId": "s", "isSidechain": false,
            "compactMetadata": {"trigger": "auto", "preTokens": 1000, "preservedMessages": {"uuids": ["a5"]}}}),
        summary,
        user("u2", "Go on."),
        said("a6", "m3", text("On it goes.")),
    ]);
    all.insert(4, "{\"type\": \"user\", \n".to_owned());
    all.insert(7, "\n".to_owned());
    all
}

/// A rollout of Codex: a turn of several items, usage, a compaction.
fn codex() -> Vec<String> {
    let item =
        |payload: Value| json!({"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": payload});
    let message = |role: &str, text: &str| {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        item(json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let call = |id: &str| item(json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": id}));
    let output = |id: &str| item(json!({"type": "function_call_output", "call_id": id, "output": "ok"}));
    let usage = json!({"input_tokens": 10, "cached_input_tokens": 2, "output_tokens": 3});
    lines(&[
        json!({"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "Be careful."}}}),
        message("user", "Tidy up."),
        message("assistant", "I look."),
        call("c1"),
        call("c2"),
        output("c1"),
        output("c2"),
        message("assistant", "Done."),
        json!({"type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": usage}}}),
        json!({"type": "compacted", "payload": {"message": "", "replacement_history": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tidy up."}]}]}}),
        message("user", "Go on."),
        message("assistant", "On it goes."),
        json!({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}),
        message("user", "Another way."),
        json!({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 2}}),
        json!({"type": "inter_agent_communication", "payload": {"author": "/root", "recipient": "/root/w", "content": "Look.",
            "trigger_turn": true}}),
    ])
}

/// A session of Pi: a compaction, a branch that is left.
fn pi() -> Vec<String> {
    let entry = |id: &str, parent: Option<&str>, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z", "message": message});
    let user = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
    let said = |text: &str| json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    lines(&[
        json!({"type": "session", "version": 3, "id": "s", "cwd": "/tmp"}),
        entry("e1", None, user("Tidy up.")),
        entry("e2", Some("e1"), said("I look.")),
        entry("e3", Some("e2"), user("And?")),
        json!({"type": "compaction", "id": "e4", "parentId": "e3", "summary": "It was looked at.", "firstKeptEntryId": "e3",
            "tokensBefore": 900}),
        entry("e5", Some("e4"), said("Done.")),
        entry("e6", Some("e3"), said("Another way.")),
        json!({"type": "branch_summary", "id": "e7", "parentId": "e6", "summary": "The first way was left."}),
        entry("e8", Some("e7"), user("Go on.")),
        json!({"type": "context_edit", "id": "e9", "parentId": "e8", "targetId": "e6", "replacement": {"content": "Short."}}),
        entry("e10", Some("e9"), said("On it goes.")),
        entry("e11", None, json!({"role": "system", "content": "", "sections": {"preamble": "Be careful."}})),
        entry("e12", Some("e4"), user("Once more.")),
    ])
}

/// All that a session consists of.
fn contents(session: &Session) -> String {
    let view: Vec<_> = session.view().iter().map(|entry| (entry.key, &entry.message)).collect();
    format!("{:?} {:?} {:?} {view:?}", session.id, session.log(), session.journal())
}

/// What the whole of a file reads as; `None` for one that is no session yet.
fn whole(bytes: &[u8], format: Format) -> Option<Session> {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    read(bytes.to_vec(), options).ok().map(|loaded| loaded.sessions.into_iter().next().unwrap().session)
}

#[test]
fn each_step_reads_as_the_whole_does() {
    let check = |format: Format, lines: Vec<String>| {
        let file = lines.concat().into_bytes();
        // By the line, in the middle of lines, in front of a line's end, and in larger steps.
        for steps in [1, 7, 64, 1_000] {
            let mut follower = Follower::new(format).unwrap();
            let mut compared = 0;
            for end in (0..file.len()).step_by(steps).chain([file.len()]) {
                follower.read_on(&file[follower.position()..end]);
                if let Some(whole) = whole(&file[..end], format) {
                    assert_eq!(contents(&follower.session()), contents(&whole), "{format}: {end} of {}", file.len());
                    compared += 1;
                }
            }
            assert!(compared > 1 && follower.position() == file.len(), "{format}: {compared}");
        }
    };
    check(Format::ClaudeCode, claude_code());
    check(Format::Codex, codex());
    check(Format::Pi, pi());
    assert!(Follower::new(Format::OpenaiChat).is_none() && Follower::new(Format::Aider).is_none());
}

#[test]
fn recorded_sessions_are_followed() {
    let Some(folder) = crate::tests::corpus::folder() else { return };
    let mut followed = 0;
    for (kind, format) in [("claude_code", Format::ClaudeCode), ("codex_rollout", Format::Codex), ("pi", Format::Pi)] {
        let Ok(entries) = std::fs::read_dir(folder.join(kind)) else { continue };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().step_by(4) {
            let file = read(std::fs::read(path).unwrap(), ReadOptions::default()).unwrap().bytes;
            let mut follower = Follower::new(format).unwrap();
            for end in [file.len() / 3, file.len() / 2, file.len()] {
                follower.read_on(&file[follower.position()..end]);
                let Some(whole) = whole(&file[..end], format) else { continue };
                assert!(contents(&follower.session()) == contents(&whole), "{}: {end}", path.display());
                followed += 1;
            }
        }
    }
    assert!(followed > 0, "there are sessions of these formats");
}
