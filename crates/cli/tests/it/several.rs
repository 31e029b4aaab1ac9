//! Files of several sessions.

use serde_json::Value;

use crate::place::{Place, several};

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
      help: choose one with --session N|ID:
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
