//! `epitome eval --what probes`: folders of probes from the file to the tables.

use serde_json::{Value, json};

use crate::place::Place;

/// A session of three rounds, each with a fact and a long log; the newest round says nothing that is asked.
pub(crate) fn prefix() -> Value {
    let log = |name: &str| (1..=60).map(|n| format!("{name} compiled unit {n} of the release\n")).collect::<String>();
    let step = |id: &str, command: &str, printed: String| {
        let arguments = json!({ "command": command }).to_string();
        let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": printed}),
        ]
    };
    let mut messages =
        vec![json!({"role": "user", "content": "Build the release. Never publish it without asking me."})];
    messages.extend(step("c1", "make release", log("first") + "error: unit 61 did not link"));
    messages.push(json!({"role": "assistant", "content": "Unit 61 did not link because its symbol is missing."}));
    messages.push(json!({"role": "user", "content": "Then fix it."}));
    messages.extend(step("c2", "make unit-61", log("second")));
    messages.push(json!({"role": "assistant", "content": "It is built."}));
    json!({ "messages": messages })
}

fn probe(id: &str, kind: &str, facts: Value) -> Value {
    json!({"id": id, "kind": kind, "question": "What?", "answer": "That.", "facts": facts})
}

pub(crate) fn place(probes: &Value) -> Place {
    let place = Place::new();
    for name in ["agent-ledger-11-a0b1", "agent-stamps-12"] {
        std::fs::create_dir_all(place.path(&format!("probes/{name}"))).unwrap();
        place.file(&format!("probes/{name}/prefix.json"), prefix().to_string());
        place.file(&format!("probes/{name}/probes.json"), probes.to_string());
    }
    place.file("probes/agent-stamps-12/handoff.md", "Unit 61 does not link: a missing symbol.");
    place
}

pub(crate) fn probes() -> Value {
    json!([
        probe("q1", "why", json!([["unit 61"], ["symbol is missing", "missing symbol"]])),
        probe("q2", "user", json!([["never  PUBLISH it"]])),
        probe("q3", "state", json!([["it is built"]])),
        probe("q4", "exact", json!([["command: make release"]])),
    ])
}

/// The kept and all probes of a row by method, session and budget.
fn found(place: &Place, method: &str, session: &str, budget: &str) -> (u64, u64) {
    let text = String::from_utf8(place.read("cases.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_it = |row: &&Value| row["method"] == method && row["session"] == session && row["budget"] == budget;
    let row = rows.iter().find(is_it);
    assert!(row.is_some(), "{method} {session} {budget}: {text}");
    let row = row.unwrap();
    let count = |key: &str| row.pointer(&format!("/probes/all/{key}")).unwrap().as_u64().unwrap();
    (count("kept"), count("of"))
}

#[test]
fn what_a_context_can_answer() {
    let place = place(&probes());
    let ran = place
        .run("eval probes --what probes --methods default --budgets 100k,0.08 --by repository --jsonl cases.jsonl");
    assert_eq!(ran.code, 0, "{}", ran.all());
    for method in ["default", "baseline:newest"] {
        assert_eq!(found(&place, method, "agent-stamps-12", "100000"), (4, 4), "{method}: the whole answers all");
    }
    // The newest round alone: what it was, not what came before.
    assert_eq!(found(&place, "baseline:newest", "agent-ledger-11-a0b1", "0.08"), (1, 4));
    assert_eq!(found(&place, "hand-off", "agent-stamps-12", "0.08"), (1, 4), "it says why, and nothing else");
    let text = ran.text();
    assert!(text.contains("\nunknown 2 cases"), "no file says which: {text}");
    assert!(text.contains("hand-off"), "{text}");
}

#[test]
fn repositories_are_told() {
    let place = place(&json!({"repo": "of the file", "probes": probes()}));
    let ran = place.run("eval probes --what probes --budgets 1 --by repository --json -q");
    let json = ran.json();
    let names: Vec<&Value> = json["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["of the file"], "{}", ran.stderr);
}

#[test]
fn what_is_wrong_with_probes_is_told() {
    let check = |probes: &Value, expect: &str| {
        let told = place(probes).run("eval probes --what probes -q");
        assert_eq!(told.code, 2, "{}", told.all());
        let words = told.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(expect) && words.contains("docs/evaluation.md"), "{words}");
    };
    let wrong_kind = json!([probe("q1", "reason", json!([["a"]]))]);
    check(&wrong_kind, "probes.json: probe 1 (`q1`): `kind`: `reason` is not one of exact, state, why, user, content");
    check(&json!([{"id": "q1"}]), "probes.json: probe 1 (`q1`): `kind` is missing: add it");
    let place = place(&probes());
    std::fs::remove_file(place.path("probes/agent-stamps-12/prefix.json")).unwrap();
    let told = place.run("eval probes --what probes -q");
    assert!(told.stderr.contains("there is no prefix.json.gz or prefix.json beside it"), "{}", told.all());
    std::fs::create_dir(place.path("empty")).unwrap();
    let told = place.run("eval empty --what probes -q");
    assert!(told.stderr.contains("holds no folder with a probes.json"), "{}", told.all());
}
