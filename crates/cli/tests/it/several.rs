//! Files of several sessions.

use serde_json::Value;

use crate::place::{Place, several, shape_only};

fn lines(bytes: &[u8]) -> Vec<Value> {
    std::str::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_is_chosen() {
    let place = Place::with("all.jsonl", several());
    insta::assert_snapshot!(place.run("compact all.jsonl -b 400").all(), @r#"
    exit 2
    ----- stderr
    error: all.jsonl holds 3 sessions
      help: choose one with --session N|ID, or compact each with --all:
              0  0  4 messages
              1  1  4 messages
              2  2  4 messages
    "#);
    insta::assert_snapshot!(place.run("check all.jsonl --session 3").all(), @r#"
    exit 2
    ----- stderr
    error: all.jsonl holds no session `3`
      help: it holds 3 sessions:
              0  0  4 messages
              1  1  4 messages
              2  2  4 messages
    "#);
    let tokens = |choice: &str| {
        place.run(&format!("check all.jsonl --json {choice}")).json()["current_tokens"].as_u64().unwrap()
    };
    assert!(tokens("--session 0") < tokens("--session 1"));
    let ran = place.run("compact all.jsonl -b 400 --session 2 -q");
    assert_eq!((ran.code, lines(&ran.stdout).len()), (0, 1), "{}", ran.stderr);
}

#[test]
fn all_are_compacted_each_to_the_budget() {
    let _filters = shape_only();
    let place = Place::with("all.jsonl", several());
    let ran = place.run("compact all.jsonl -b 400 --all --report r.json");
    insta::assert_snapshot!(ran.stderr, @"
    session before after edits task
    # fits # # # unknown
    # compacted # # # unknown
    # compacted # # # unknown
    ");
    let sessions = lines(&ran.stdout);
    assert_eq!(sessions.iter().map(|session| session["id"].clone()).collect::<Vec<_>>(), ["0", "1", "2"]);
    assert!(sessions.iter().all(|session| session["messages"].is_array()));
    let reports: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    let statuses: Vec<&Value> = reports.as_array().unwrap().iter().map(|entry| &entry["report"]["status"]).collect();
    assert_eq!(statuses, ["no-change", "compacted", "compacted"]);
}

#[test]
fn those_that_cannot_fit_are_left_out() {
    let session = |text: &str| format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#);
    let place = Place::with(
        "all.jsonl",
        format!("{}\n{}\n", session("Short."), session(&format!("<Pin> {}", "long ".repeat(50)))),
    );
    place.file("none.jsonl", "precious");
    let ran = place.run("compact all.jsonl -b 30 --all -o some.jsonl");
    assert_eq!((ran.code, lines(&place.read("some.jsonl")).len()), (3, 1));
    insta::assert_snapshot!(ran.stderr, @r#"
      session              before  after  edits  task
      0        fits             6      6      0  unknown
      1        cannot fit      58     58      0  unknown
    warning: 1 of 2 sessions cannot fit and were left out
    "#);
    assert_eq!(place.run("compact all.jsonl -b 2 --all -o none.jsonl").code, 3);
    assert_eq!(place.read("none.jsonl"), b"precious");
}

#[test]
fn all_are_converted_and_checked() {
    let place = Place::with("all.jsonl", several());
    let ran = place.run("convert all.jsonl --all --to anthropic");
    let sessions = lines(&ran.stdout);
    assert_eq!((ran.code, sessions.len()), (0, 3));
    assert_eq!(sessions[1]["messages"][1]["content"][0]["type"], "tool_use");
    insta::assert_snapshot!(place.run("convert all.jsonl --all --to pi").all(), @r#"
    exit 2
    ----- stderr
    error: pi cannot hold several sessions in one file
      help: with --all use --to openai-chat, openai-responses, anthropic or gemini
    "#);
    insta::assert_snapshot!(place.run("check all.jsonl --all --window 1000").all(), @r#"
    exit 0
    ----- stdout
      session  tokens  share                      trigger
      0            61    8 %  no need to compact  nothing
      1           537   72 %  no need to compact  nothing
      2           877  117 %  compaction due      the hard threshold
    "#);
    assert_eq!(place.run("check all.jsonl --all --json").json().as_array().unwrap().len(), 3);
}

#[test]
fn inspect_lists_them() {
    let place = Place::with("all.jsonl", several());
    insta::assert_snapshot!(place.run("inspect all.jsonl").all(), @r#"
    exit 0
    ----- stdout
    all.jsonl  openai-chat, 5.6 kB
      3 sessions of 1,475 tokens in all; --session N|ID shows one

      n  session  messages  tokens
      0  0               4      61
      1  1               4     537
      2  2               4     877
    "#);
    let inspected = place.run("inspect all.jsonl --json").json();
    assert_eq!((inspected["sessions"].as_array().unwrap().len(), inspected["session"].is_null()), (3, true));
    let one = place.run("inspect all.jsonl --json --session 1").json();
    assert_eq!(one["session"]["messages"], 4);
}
