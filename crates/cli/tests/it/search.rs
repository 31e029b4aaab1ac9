//! `epitome search`: what was said, found again.

use serde_json::{Value, json};

use crate::place::{Place, example};

/// A session of a request, a file that was read, and an answer.
fn session(partner: &str) -> String {
    let call = json!({"id": "c1", "type": "function", "function": {
        "name": "Read", "arguments": json!({"file_path": "/home/dev/ledger/export.py"}).to_string()}});
    json!({"messages": [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": format!("Leave the export of partner {partner} alone.")},
        {"role": "assistant", "content": "I look at the export first.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "def write_export(rows):\n    return fingerprint(rows)\n"},
        {"role": "assistant", "content": "The export joins on the fingerprint, so it stays as it was."},
    ]})
    .to_string()
}

#[test]
fn what_was_said_is_found() {
    let place = Place::with("session.json", session("HLV-2209"));
    insta::assert_snapshot!(place.run("search session.json which partner did the user name").all(), @"");
    insta::assert_snapshot!(place.run("search session.json write_export --from file --characters 100").all(), @"");
    insta::assert_snapshot!(place.run("search session.json --from user --newest").all(), @"");
    let printed = place.run("search session.json fingerprint --also write_export --json --limit 1").json();
    assert_eq!(printed["more"], false);
    let passage = &printed["passages"][0];
    let keys: Vec<&str> = passage.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["text", "message", "number", "role", "tool", "file", "handle", "in_context", "score"]);
    assert!(passage["text"].as_str().unwrap().contains("def write_export(rows):"), "{passage}");
    assert_eq!(place.run_with("search - HLV-2209 -q", session("HLV-2209").as_bytes()).code, 0);
}

#[test]
fn nothing_found_is_told_and_is_no_success() {
    let place = Place::with("session.json", session("HLV-2209"));
    insta::assert_snapshot!(place.run("search session.json zebra").all(), @"");
    insta::assert_snapshot!(place.run("search session.json export --page 9").all(), @"");
    assert_eq!(place.run("search session.json zebra --json -q").json(), json!({"passages": [], "more": false}));
}

#[test]
fn pages_go_on_where_the_last_one_ended() {
    let place = Place::with("example.jsonl", example("session.jsonl"));
    let page = |number: u32| -> Vec<Value> {
        let line = format!("search example.jsonl fingerprint --limit 2 --characters 2000 --page {number} --json");
        place.run(&line).json()["passages"].as_array().unwrap().clone()
    };
    let (first, second) = (page(1), page(2));
    assert_eq!((first.len(), second.len()), (2, 2));
    assert!(first.iter().all(|passage| second.iter().all(|other| passage["text"] != other["text"])));
    let told = place.run("search example.jsonl fingerprint --limit 2");
    assert_eq!((told.code, &*told.stderr), (0, "more matches: --page 2\n"));
}

#[test]
fn a_folder_is_searched_as_one() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("all/older")).unwrap();
    place.file("all/one.json", session("HLV-2209"));
    place.file("all/older/two.json", session("KQD-8114"));
    place.file("all/notes.txt", "not a session");
    insta::assert_snapshot!(place.run("search all KQD-8114 --limit 1 --characters 200").all(), @"");
    let printed = place.run("search all partner --json -q").json();
    let paths: Vec<&str> =
        printed["passages"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"one.json") && paths.contains(&"older/two.json"), "{paths:?}");
    assert_eq!(place.run("search all zebra -q").code, 1);
}

#[test]
fn what_left_the_context_has_a_handle_that_brings_it_back() {
    let place = Place::with("example.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact example.jsonl --budget 12000 -o example.jsonl -q").code, 0);
    let printed = place.run("search example.jsonl parse_amount float int --from tool --json --limit 20").json();
    let passages = printed["passages"].as_array().unwrap();
    let left = passages.iter().find(|passage| passage["in_context"] == false).unwrap();
    let handle = left["handle"].as_str().unwrap();
    let recalled = place.run(&format!("restore example.jsonl --handle {handle} -q"));
    assert_eq!(recalled.code, 0, "{}", recalled.stderr);
}

#[test]
fn bad_input_is_told() {
    let place = Place::with("session.json", session("HLV-2209"));
    std::fs::create_dir(place.path("empty")).unwrap();
    insta::assert_snapshot!(place.run("search session.json x --from me").all(), @"");
    insta::assert_snapshot!(place.run("search missing.json x").all(), @"");
    insta::assert_snapshot!(place.run("search empty x").all(), @"");
    insta::assert_snapshot!(place.run("search empty x --newest").all(), @"");
    assert_eq!(place.run("search session.json").code, 2);
}
