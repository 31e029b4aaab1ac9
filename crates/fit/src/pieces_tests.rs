#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::*;
use crate::conversation::Addition;

const TASK: &str = r#"{"role":"user","content":"Fix the build"}"#;
const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"a long output"}"#;
const CUT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"a [… elided]"}"#;
const SUMMARY: &str = r#"{"role":"user","content":"[Summary of 2 earlier messages]"}"#;

fn keep(range: std::ops::Range<usize>) -> FitPiece {
    FitPiece::Keep { start: range.start, end: range.end }
}

fn check(came: &[&str], sent: &[&str], provenance: &Provenance, expect: &[FitPiece]) {
    assert_eq!(pieces(came, sent, Some(provenance)), expect, "{came:?} {sent:?}");
}

#[test]
fn what_is_kept_changed_and_new() {
    let came = [TASK, CALL, RESULT, TASK];
    let cut = FitPiece::Edit {
        index: 2,
        message: CUT.to_owned(),
        texts: Some(vec![TextChange { pointer: "/content".to_owned(), text: "a [… elided]".to_owned() }]),
    };
    let provenance = Provenance { messages: 4, shown: vec![0, 1, 3], edited: vec![2], ..Provenance::default() };
    check(&came, &[TASK, CALL, CUT, TASK], &provenance, &[keep(0..2), cut, keep(3..4)]);
    // A part of a result may have an id that leaves with its text.
    let parts =
        r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"hit","id":"h1"},{"type":"text","text":"long"}]}"#;
    let cut = FitPiece::Edit { index: 2, message: CUT.to_owned(), texts: None };
    check(&[TASK, CALL, parts, TASK], &[TASK, CALL, CUT, TASK], &provenance, &[keep(0..2), cut, keep(3..4)]);
    let addition = Addition {
        text: Arc::from("[Summary of 2 earlier messages]"),
        reason: Some(Arc::from("condensed")),
        replaces: vec![1, 2],
    };
    let summary =
        FitPiece::Insert { message: SUMMARY.to_owned(), reason: Some(Arc::from("condensed")), replaces: vec![1, 2] };
    let provenance = Provenance { messages: 4, shown: vec![0, 3], added: vec![addition], ..Provenance::default() };
    check(&came, &[TASK, SUMMARY, TASK], &provenance, &[keep(0..1), summary, keep(3..4)]);
}

#[test]
fn contents_of_gemini() {
    let user = r#"{"role":"user","parts":[{"text":"Fix the build"}]}"#;
    let response = |name: &str, text: &str| {
        format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"{name}","response":{{"output":"{text}"}}}}}}]}}"#
        )
    };
    let (first, second, cut) = (response("bash", "long"), response("grep", "long"), response("grep", "[… elided]"));
    let edit = FitPiece::Edit {
        index: 2,
        message: cut.clone(),
        texts: Some(vec![TextChange {
            pointer: "/parts/0/functionResponse/response/output".to_owned(),
            text: "[… elided]".to_owned(),
        }]),
    };
    let provenance = Provenance { messages: 3, shown: vec![0], edited: vec![1, 2], ..Provenance::default() };
    check(&[user, &first, &second], &[user, &cut], &provenance, &[keep(0..1), edit]);
    let summary = r#"{"role":"user","parts":[{"text":"[Summary]"}]}"#;
    let added = Addition { text: Arc::from("[Summary]"), reason: None, replaces: vec![1, 2] };
    let insert = FitPiece::Insert { message: summary.to_owned(), reason: None, replaces: vec![1, 2] };
    let provenance = Provenance { messages: 3, shown: vec![0], added: vec![added], ..Provenance::default() };
    check(&[user, &first, &second], &[user, summary], &provenance, &[keep(0..1), insert]);
}

#[test]
fn of_equal_messages_the_one_that_is_shown_is_kept() {
    let provenance = Provenance { messages: 3, shown: vec![2], ..Provenance::default() };
    check(&[TASK, TASK, TASK], &[TASK], &provenance, &[keep(2..3)]);
    // The last one came after the decision, which does not say anything about it.
    let provenance = Provenance { messages: 3, shown: vec![0, 2], ..Provenance::default() };
    check(&[TASK, TASK, CALL, TASK], &[TASK, CALL, TASK], &provenance, &[keep(0..1), keep(2..4)]);
    // All that the decision was made on has left but the first, and the next one says the same as they did.
    let provenance = Provenance { messages: 3, shown: vec![0], ..Provenance::default() };
    check(&[CALL, TASK, TASK, TASK, RESULT], &[CALL, TASK, RESULT], &provenance, &[keep(0..1), keep(3..5)]);
}

#[test]
fn what_came_late_is_kept_where_it_is_sent() {
    let provenance = Provenance { messages: 3, shown: vec![0, 2, 1], ..Provenance::default() };
    check(&[CALL, TASK, RESULT], &[CALL, RESULT, TASK], &provenance, &[keep(0..1), keep(2..3), keep(1..2)]);
}

#[test]
fn parts_that_came_or_left_are_no_changes_of_texts() {
    let check = |before: &str, after: &str, expect: Option<&[(&str, &str)]>| {
        let (before, after): (Value, Value) =
            (serde_json::from_str(before).unwrap(), serde_json::from_str(after).unwrap());
        let mut found = Vec::new();
        let is_same = text_changes(&before, &after, String::new(), &mut found);
        let found: Vec<(&str, &str)> = found.iter().map(|it| (&*it.pointer, &*it.text)).collect();
        assert_eq!(is_same.then_some(&found[..]), expect, "{before} {after}");
    };
    check(r#"{"a":[{"b/c":"x"},"y"]}"#, r#"{"a":[{"b/c":"z"},"y"]}"#, Some(&[("/a/0/b~1c", "z")]));
    check(r#"{"a":"x"}"#, r#"{"a":"x"}"#, Some(&[]));
    check(r#"{"a":"x","b":1}"#, r#"{"a":"y"}"#, None);
    check(r#"{"a":["x"]}"#, r#"{"a":["x","y"]}"#, None);
    check(r#"{"a":"x"}"#, r#"{"a":["x"]}"#, None);
    check(r#"{"a":1}"#, r#"{"a":2}"#, None);
}
