#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;

use super::*;
use crate::{ReadOptions, read};

const PLACE: (&str, &str) = ("/home/me/project", "main");

fn moved(session: &str, to: Format) -> MovedSession {
    let loaded = read(session.as_bytes().to_vec(), ReadOptions::default()).unwrap();
    let place = NewSession { folder: PLACE.0.to_owned(), branch: PLACE.1.to_owned(), time: 1_767_225_600_000 };
    write_moved(&loaded, 0, &loaded.sessions[0].session, to, &place).unwrap()
}

/// The records of a moved session's messages: for each its kind, and its role, tool or call.
fn records(session: &str, to: Format) -> Vec<String> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let kinds = |content: &Value| -> String {
        let kinds = content.as_array().into_iter().flatten().map(|block| text(block, "type"));
        kinds.collect::<Vec<_>>().join(" ")
    };
    let bytes = moved(session, to).bytes;
    let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let told = |record: Value| match (&record["payload"], &record["message"]) {
        (Value::Null, Value::Null) => None,
        (Value::Null, message) => Some(format!("{} {}", text(message, "role"), kinds(&message["content"]))),
        (payload, _) if record["type"] == "response_item" => {
            let which =
                [text(payload, "role"), text(payload, "name"), text(payload, "call_id"), kinds(&payload["content"])];
            Some(format!("{} {}", text(payload, "type"), which.join(" ").trim()))
        }
        _ => None,
    };
    records.filter_map(told).map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn codex_reads_every_record_whatever_form_the_request_had() {
    let request = r#"{"model": "gpt-5", "input": [
        {"role": "user", "content": "Fix the build."},
        {"type": "shell_call", "id": "sh_0", "call_id": "c0", "action": {"commands": ["make"]}, "status": "completed"},
        {"type": "shell_call_output", "call_id": "c0", "output": [{"stdout": "no", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]},
        {"type": "compaction", "id": "cmp", "encrypted_content": "x"},
        {"role": "assistant", "content": "It fails."}]}"#;
    let expect = [
        "message user input_text",
        "function_call shell c0",
        "function_call_output c0",
        "message assistant output_text",
    ];
    assert_eq!(records(request, Format::Codex), expect);
    assert_eq!(moved(request, Format::Codex).left_out, ["a `compaction` left out: codex has no form for it"]);
}

#[test]
fn a_request_leaves_its_marks_of_the_cache_and_its_reasoning_behind() {
    let request = r#"{"model": "claude-opus-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]},
        {"role": "assistant", "content": "Done."}]}"#;
    let content = String::from_utf8(moved(request, Format::ClaudeCode).bytes).unwrap();
    assert!(!content.contains("cache_control") && !content.contains("hinking"), "{content}");
    assert_eq!(
        records(request, Format::ClaudeCode),
        ["user text", "assistant tool_use", "user tool_result", "assistant text"]
    );
    let pi = String::from_utf8(moved(request, Format::Pi).bytes).unwrap();
    assert!(pi.contains(r#""toolName":"Bash""#) && pi.contains(r#""model":"claude-opus-4-5""#), "{pi}");
}

#[test]
fn a_call_without_a_result_gets_one_and_ids_are_such_as_every_provider_takes() {
    let chat = r#"{"messages": [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call|1", "type": "function", "function": {"name": "run", "arguments": "{}"}},
            {"id": "call|2", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call|2", "content": "two"},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "Two."}]}"#;
    let content = String::from_utf8(moved(chat, Format::ClaudeCode).bytes).unwrap();
    assert!(
        content.contains(r#""tool_use_id":"call_1""#) && content.contains(r#""tool_use_id":"call_2""#),
        "{content}"
    );
    for to in [Format::ClaudeCode, Format::Codex, Format::Pi] {
        let is_result = |it: &String| ["tool_result", "_output ", "toolResult"].iter().any(|kind| it.contains(kind));
        let results = records(chat, to).into_iter().filter(is_result).count();
        assert_eq!(results, 2, "{to}: {:?}", records(chat, to));
    }
}

#[test]
fn the_file_says_where_the_session_goes_on() {
    let chat = r#"{"messages": [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "Yes."}]}"#;
    for to in [Format::ClaudeCode, Format::Codex, Format::Pi] {
        let MovedSession { id, started, bytes, .. } = moved(chat, to);
        let content = String::from_utf8(bytes).unwrap();
        assert!(content.contains(&id) && content.contains(PLACE.0), "{to}: {content}");
        assert_eq!(started, "2026-01-01T00:00:00.000Z");
        assert_eq!(content.contains(PLACE.1), to != Format::Pi, "{to}: {content}");
        assert_eq!(moved(chat, to).id, id, "{to}: deterministic");
        let again = read(content.into_bytes(), ReadOptions::default()).unwrap();
        assert_eq!((again.format, recorded_folder(&again).as_deref()), (to, Some(PLACE.0)));
        assert_eq!((again.sessions[0].name.as_str(), again.warnings.len()), (&*id, 0), "{to}");
    }
    let loaded = read(chat.as_bytes().to_vec(), ReadOptions::default()).unwrap();
    let place = NewSession { folder: String::new(), branch: String::new(), time: 0 };
    let refused = write_moved(&loaded, 0, &loaded.sessions[0].session, Format::Anthropic, &place);
    assert_eq!(refused, Err(WriteError::NotWritable(Format::Anthropic)));
}
