//! Inputs that are large, deep or cut off.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use crate::tests::outcome;

#[test]
fn deep_nesting_is_no_crash() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(outcome(deep.as_bytes()).sessions.is_err());
    let document = format!(r#"{{"info": {{}}, "messages": [{{"info": {deep}, "parts": []}}]}}"#);
    assert!(outcome(document.as_bytes()).sessions.is_err());
    // Among lines, only the deep one is lost.
    let event = |data: &str| format!(r#"{{"type":"user.message","data":{data}}}"#);
    let lines = [event(r#"{"content":"a"}"#), event(&deep), event(r#"{"content":"b"}"#)].join("\n");
    let read = outcome(lines.as_bytes());
    assert_eq!(read.sessions.unwrap()[0].session.log().len(), 2);
    assert_eq!(read.warnings.iter().map(|warning| warning.line).collect::<Vec<_>>(), [Some(2)]);
}

#[test]
fn a_huge_text_is_kept_whole() {
    let huge = "é ".repeat(2_000_000);
    let text = format!("# aider chat started at 2024-01-01\n#### {huge}x\n");
    let read = outcome(text.as_bytes());
    assert_eq!(read.sessions.unwrap()[0].session.log()[0].plain_text().len(), huge.len() + 1);
}

/// Quadratic reading of this many calls would take minutes.
#[test]
fn many_unanswered_calls_are_read_in_linear_time() {
    let mut lines = String::new();
    for number in 0..50_000 {
        writeln!(
            lines,
            r#"{{"type":"assistant.message","data":{{"toolRequests":[{{"name":"t","toolCallId":"{number}"}}]}}}}"#
        )
        .unwrap();
    }
    for _ in 0..1000 {
        writeln!(lines, r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"none","result":"r"}}}}"#).unwrap();
    }
    assert_eq!(outcome(lines.as_bytes()).sessions.unwrap()[0].session.log().len(), 51_000);
}

#[test]
fn every_cut_of_a_file_is_survived() {
    let whole = r#"{"sessionId": "s", "projectHash": "h"}
{"id": "1", "type": "gemini", "content": "é", "toolCalls": [{"id": "c", "name": "n", "args": {"a": "ü"}, "result": "r"}]}
{"$set": {"messages": [{"type": "user", "content": "x"}]}}"#;
    for length in 0..whole.len() {
        let _ = outcome(&whole.as_bytes()[..length]);
    }
}
