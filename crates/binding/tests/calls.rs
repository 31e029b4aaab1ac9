//! The calls of a package, as it makes them: names, words as JSON, data.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use epitome_binding::{Dispatcher, Reply};
use serde_json::{Value, json};

fn value(answer: &Reply) -> Value {
    serde_json::from_str(&answer.json).unwrap()
}

/// The value of a call that does not fail.
fn call(calls: &Dispatcher, name: &str, words: &Value, data: &str) -> Value {
    let answer = calls.call(name, &words.to_string(), data.as_bytes().to_vec());
    assert!(!answer.is_failure, "{name} {words}: {}", answer.json);
    value(&answer)
}

fn talk(lines: usize) -> String {
    let role = |line| if line % 2 == 0 { "user" } else { "assistant" };
    let message = |line| json!({ "role": role(line), "content": format!("Line {line}. ").repeat(50) });
    Value::from((0..lines).map(message).collect::<Vec<_>>()).to_string()
}

#[test]
fn messages_are_kept_and_dropped_by_hand() {
    let calls = Dispatcher::default();
    let engine = call(&calls, "engine", &json!({}), "");
    let words = json!({ "engine": engine, "budget": 100_000, "keep": "#3", "drop": ["#1-#4", "#6"] });
    let told = call(&calls, "compact", &words, &talk(9));
    let expected = json!({
        "kept": ["#3"], "dropped": ["#1-#2", "#4", "#6"],
        "stayed": [{"messages": "#3", "why": "it is kept or pinned"}], "gone": [],
    });
    assert_eq!(told["report"]["by_hand"], expected);
}

#[test]
fn what_is_wrong_is_told_by_its_kind() {
    let calls = Dispatcher::default();
    let engine = call(&calls, "engine", &json!({}), "");
    let fitter = call(&calls, "fitter", &json!({ "engine": engine, "budget": 2_000 }), "")["handle"].clone();
    let check = |name: &str, words: Value, data: &str, kind: &str, message: &str| {
        let answer = calls.call(name, &words.to_string(), data.as_bytes().to_vec());
        let told = value(&answer);
        assert!(answer.is_failure, "{name} {words} succeeded");
        assert_eq!(told["kind"], kind, "{told}");
        assert!(told["message"].as_str().unwrap().contains(message), "{told}");
    };
    check("engine", json!({ "windwo": 1 }), "", "config", "there is no option `windwo`; did you mean `window`?");
    check("engine", json!({ "xyz": 1 }), "", "config", "there are `config`, `model`, `window`, `reserveOutput`");
    let not_whole = "`window` takes a number of tokens (a whole number, 1 or more), not ";
    for (wrong, shown) in [(json!(0.5), "0.5"), (json!(-1), "-1"), (json!("8k"), "\"8k\""), (json!(null), "null")] {
        check("engine", json!({ "window": wrong }), "", "config", &format!("{not_whole}{shown}"));
    }
    check("engine", json!({ "model": 5 }), "", "config", "`model` takes a text, not 5");
    check("engine", json!({ "config": 5 }), "", "config", "`config` takes the text of a TOML file");
    check("engine", json!({ "config": { "budget": { "window": null } } }), "", "config", "null is not a value");
    check("engine", json!({ "config": "[budget]\nwindow = 0" }), "", "config", "config:2:10");
    check("fitter", json!({ "engine": engine, "budget": 0.5 }), "", "config", "a whole number, 1 or more");
    check("fitter", json!({ "engine": engine, "secret": [1, 2] }), "", "config", "32 bytes, not 2");
    check(
        "fitter",
        json!({ "engine": engine, "host": "text" }),
        "",
        "config",
        "`host`: `text` is not one of any, texts",
    );
    check("fitter", json!({ "engine": engine, "format": "pi" }), "", "format", "is not a provider's format");
    check("fit", json!({ "handle": fitter }), "{}", "format", "not a JSON list");
    check("fit", json!({ "handle": fitter }), "[{}]", "format", "messages[0]");
    check("fit", json!({ "handle": fitter, "tools": {} }), "[]", "config", "`tools` takes a list");
    check(
        "fit",
        json!({ "handle": fitter, "system": -1 }),
        "[]",
        "config",
        "`system` takes a system prompt, or the tokens",
    );
    check("fitter-from-state", json!({ "engine": engine }), "what?", "other", "state");
    check("compact", json!({ "engine": engine, "budget": 5 }), &talk(9), "infeasible", "cannot fit 5 tokens");
    check("compact", json!({ "engine": engine, "budget": -1 }), &talk(9), "config", "`budget` takes");
    let keep = json!({ "engine": engine, "budget": 5_000, "keep": "three" });
    check("compact", keep, &talk(9), "config", "`keep`: `three` names no messages");
    let drop = json!({ "engine": engine, "budget": 5_000, "drop": ["#9"] });
    check("compact", drop, &talk(9), "config", "there is no message #9: the last is #8");
    check("compact", json!({ "engine": engine, "chain": 5 }), &talk(9), "config", "`chain` takes the name");
    check("compact", json!({ "engine": engine, "mode": "fixed" }), &talk(9), "config", "`mode` fixed needs a chain");
    check("compact", json!({ "engine": engine }), "nothing", "format", "`format` names the format");
    check("compact", json!({ "engine": engine, "to": "aider" }), &talk(9), "format", "aider");
    check("inspect", json!({ "engine": 77 }), &talk(9), "other", "this engine was closed");
    check("count-text", json!({ "counter": "words" }), "a", "config", "unknown token counter `words`");
    check("validate", json!({ "format": "codex" }), "{}", "format", "is not a provider's format");
    let number = r#"[{"role":"user","content":"Go."},{"role":"assistant","content":5}]"#;
    let objects = json!({ "engine": engine, "objects": true });
    for name in ["compact", "preview", "inspect", "check", "count"] {
        check(name, objects.clone(), number, "format", "messages[1]: `content`: a text or a list of parts");
        call(&calls, name, &json!({ "engine": engine }), number);
    }
    check(
        "inspect",
        objects,
        r#"["Go."]"#,
        "format",
        "messages[0]: a message is an object, and this is a text (read as",
    );
    check("dance", json!({}), "", "other", "there is no call `dance`");
}

#[test]
fn a_check_goes_by_the_larger_count() {
    let calls = Dispatcher::default();
    let recording = |model: &str, input: u64| {
        let usage = json!({"input_tokens": input, "output_tokens": 5});
        let said =
            json!({"role": "assistant", "model": model, "usage": usage, "content": [{"type": "text", "text": "Yes."}]});
        let asked = json!({"role": "user", "content": "Go."});
        let record = |role: &str, id: &str, parent: Value, message: &Value| {
            json!({"type": role, "uuid": id, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
                "timestamp": "2026-03-01T10:00:00.000Z", "message": message})
        };
        let (first, second) = (record("user", "a", Value::Null, &asked), record("assistant", "b", "a".into(), &said));
        format!("{first}\n{second}\n")
    };
    let check = |words: Value, recorded: &str, input: u64, tokens: u64, exact: bool, urgency: &str| {
        let engine = call(&calls, "engine", &words, "");
        let told = call(&calls, "check", &json!({ "engine": engine }), &recording(recorded, input));
        let told = (&told["current_tokens"], &told["exact"], &told["urgency"]);
        assert_eq!(told, (&json!(tokens), &json!(exact), &json!(urgency)), "{words} {recorded} {input}");
    };
    let window = || json!({ "window": 8_000, "reserveOutput": 0 });
    check(window(), "gpt-4o", 1, 12, true, "none");
    check(window(), "gpt-4o", 7_900, 7_905, false, "hard");
    check(window(), "claude-sonnet-5", 1, 16, false, "none");
    check(json!({ "model": "gpt-4o" }), "claude-sonnet-5", 1, 12, true, "none");
    check(json!({ "model": "claude-sonnet-5" }), "gpt-4o", 1, 16, false, "none");
}

#[test]
fn a_list_is_told_by_the_numbers_of_its_messages() {
    let calls = Dispatcher::default();
    let engine = call(&calls, "engine", &json!({}), "");
    let check = |lines: usize, budget: u32, expect: &[&str]| {
        let fitter = call(&calls, "fitter", &json!({ "engine": engine, "budget": budget, "once": true }), "");
        let told = call(&calls, "fit", &json!({ "handle": fitter["handle"] }), &talk(lines));
        let kinds = told["pieces"].as_array().unwrap().iter();
        let kinds: Vec<&str> = kinds.map(|piece| piece.as_object().unwrap().keys().next().unwrap().as_str()).collect();
        assert_eq!(kinds, expect, "{lines} {budget}: {told}");
        assert_eq!(told["unchanged"], !expect.contains(&"insert"), "{lines} {budget}");
        assert_eq!(told["problem"].is_null(), told["status"] != "infeasible", "{told}");
    };
    check(0, 2_000, &[]);
    check(3, 2_000, &["keep"]);
    // Typed messages stay in their places, with what the lines between them say.
    let parts = ["keep", "insert", "keep", "insert", "keep", "insert", "keep", "insert", "keep"];
    check(41, 2_000, &parts);
    check(41, 5, &["keep"]);
}

#[test]
fn a_host_gets_no_change_that_it_cannot_make() {
    let calls = Dispatcher::default();
    let engine = call(&calls, "engine", &json!({}), "");
    let check = |host: &str, stays: fn(&[Value]) -> bool| {
        let words = json!({ "engine": engine, "format": "openai-chat", "budget": 2_500, "host": host });
        let fitter = call(&calls, "fitter", &words, "");
        let told = call(&calls, "fit", &json!({ "handle": fitter["handle"] }), &talk(41));
        assert_eq!(told["status"], "compacted", "{host}: {told}");
        assert!(stays(told["pieces"].as_array().unwrap()), "{host}: {told}");
    };
    fn count(pieces: &[Value], kind: &str) -> usize {
        pieces.iter().filter(|piece| piece.get(kind).is_some()).count()
    }
    check("any", |pieces| count(pieces, "insert") > 0);
    check("texts", |pieces| count(pieces, "insert") == 0 && count(pieces, "edit") > 0);
    check("cut", |pieces| count(pieces, "insert") == 1 && count(pieces, "edit") == 0);
    check("removals", |pieces| count(pieces, "insert") <= 1 && count(pieces, "edit") == 0);
}

#[test]
fn a_fitter_goes_on_from_its_state() {
    let calls = Dispatcher::default();
    let engine = call(&calls, "engine", &json!({}), "");
    let words = json!({ "engine": engine, "format": "openai-chat", "budget": 2_000 });
    let made = call(&calls, "fitter", &words, "");
    let fit = |handle: &Value, lines: usize| call(&calls, "fit", &json!({ "handle": handle }), &talk(lines));
    assert_eq!(fit(&made["handle"], 41)["status"], "compacted");
    let kept = calls.call("fitter-state", &json!({ "handle": made["handle"] }).to_string(), Vec::new());
    let state = kept.bytes.unwrap();
    let again = calls.call("fitter-from-state", &json!({ "engine": engine, "budget": 2_000 }).to_string(), state);
    let copy = call(&calls, "fitter-copy", &json!({ "handle": made["handle"] }), "");
    for other in [value(&again), copy] {
        assert_eq!(other["format"], "openai-chat");
        assert_eq!(fit(&other["handle"], 42), fit(&made["handle"], 42));
    }
    assert_eq!(call(&calls, "free-fitter", &json!({ "handle": made["handle"] }), ""), true);
    assert_eq!(call(&calls, "free-fitter", &json!({ "handle": made["handle"] }), ""), false);
    let gone = calls.call("fitter-size", &json!({ "handle": made["handle"] }).to_string(), Vec::new());
    assert!(gone.json.contains("this fitter was closed"), "{}", gone.json);
}

#[test]
fn what_left_a_session_is_found_by_its_handle() {
    let calls = Dispatcher::default();
    let engine = call(&calls, "engine", &json!({}), "");
    let answer = calls.call("compact", &json!({ "engine": engine, "budget": 0.3 }).to_string(), talk(41).into_bytes());
    let told = value(&answer);
    assert_eq!((&told["report"]["status"], &told["format"]), (&json!("compacted"), &json!("openai-chat")));
    assert!(serde_json::from_slice::<Value>(&answer.bytes.unwrap()).unwrap().is_array());
    assert_eq!(told["sizes"].as_array().unwrap().len(), 41);
    let retrieve = |of: &Value| call(&calls, "result-retrieve", &json!({ "handle": told["handle"], "of": of }), "");
    let left = retrieve(&told["report"]["edits"][0]["recall"]);
    assert_eq!(left.as_array().unwrap()[0]["content"], "Line 1. ".repeat(50));
    assert_eq!(retrieve(&json!("00000000")), Value::Null);
}
