//! What `eval` measures beside the future of cut sessions, and which sessions it takes.

use serde_json::Value;

use crate::eval::rows;
use crate::place::{Place, example};

/// A session of Claude Code that it compacted itself.
fn compacted() -> String {
    let line = |kind: &str, id: &str, more: &str, content: Value| {
        let message = serde_json::json!({"role": kind, "content": content});
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"S\",\"type\":\"{kind}\",\"uuid\":\"{id}\",\
             \"timestamp\":\"2026-01-01T00:00:00.000Z\"{more},\"message\":{message}}}\n"
        )
    };
    let call = |id: &str, file: &str, text: &str| {
        let block = serde_json::json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": file}}]);
        let result = serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
        line("assistant", &format!("a{id}"), "", block) + &line("user", &format!("r{id}"), "", result)
    };
    let list = "The paths are src/alpha_beta.rs and src/gamma_delta.rs, both of them short.";
    let boundary = "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b\",\"parentUuid\":null,\
                    \"sessionId\":\"S\",\"compactMetadata\":{\"trigger\":\"auto\",\"preTokens\":900}}\n";
    let before: String = (0..30).map(|number| call(&format!("t{number}"), "docs/list.md", list)).collect();
    let summary = "The work so far: read the list, src/alpha_beta.rs comes next.";
    line("user", "u1", "", "Look at the files of the list, one by one.".into())
        + &before
        + boundary
        + &line("user", "s1", ",\"isCompactSummary\":true", summary.into())
        + &line("user", "u2", "", "Go on.".into())
        + &call("x1", "src/alpha_beta.rs", "Empty.")
        + &call("x2", "src/gamma_delta.rs", "Empty.")
}

#[test]
fn recorded_summaries() {
    let place = Place::with("session.jsonl", compacted());
    let line = "eval session.jsonl --what recorded --min-tokens 0 --min-calls 0 --min-needed 0 --jsonl cases.jsonl -q \
                --compare recorded";
    let ran = place.run(line);
    assert!(
        ran.text().contains("default − recorded") && ran.text().contains("baseline:tail − recorded"),
        "{}",
        ran.all()
    );
    let rows = rows(&place);
    let recorded = &rows[0];
    // Of the two paths that came up later the summary names one, without the words that stood beside it.
    assert_eq!((&recorded["method"], &recorded["part"]), (&"recorded".into(), &"compaction 1".into()), "{recorded}");
    assert_eq!((&recorded["frr"]["kept"], &recorded["frr"]["of"]), (&1.into(), &2.into()), "{recorded}");
    assert_eq!((&recorded["budget"], &recorded["budget_tokens"]), (&"own size".into(), &recorded["tokens"]));
    assert!(rows.iter().all(|row| row["budget_tokens"] == recorded["tokens"]));
    assert!(recorded["prefix_tokens"].as_u64() > Some(500), "what the summary replaced: {recorded}");
}

#[test]
fn reasoning_is_left_where_it_is_asked_for() {
    let plain = compacted();
    let thought =
        serde_json::json!([{"type": "thinking", "thinking": "The list is long. ".repeat(40), "signature": "c2ln"}]);
    let message = serde_json::json!({"role": "assistant", "content": thought});
    let line = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"S\",\"type\":\"assistant\",\"uuid\":\"think\",\
         \"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{message}}}\n"
    );
    let (first, rest) = plain.split_once('\n').unwrap();
    let place = Place::with("session.jsonl", format!("{first}\n{line}{rest}"));
    let tokens = |option: &str| {
        let line =
            "eval session.jsonl --methods baseline:newest --budgets 0.4 --min-tokens 0 --min-calls 0 --min-needed 0";
        let ran = place.run(&format!("{line} -q --jsonl rows{option} {option}"));
        assert_eq!(ran.code, 0, "{}", ran.all());
        let text = String::from_utf8(place.read(&format!("rows{option}"))).unwrap();
        let row: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        row["prefix_tokens"].as_u64().unwrap()
    };
    let (without, with) = (tokens(""), tokens("--reasoning"));
    assert!(with > without + 50, "{without} and {with} tokens before the cut");
}

#[test]
fn a_larger_sample_holds_the_smaller_one() {
    let place = Place::new();
    for copy in 0..6 {
        place.file(&format!("{copy}.jsonl"), example("session.jsonl"));
    }
    let drawn = |count: usize, seed: u64| {
        let line = format!(
            "eval {} --methods baseline:newest --budgets 0.4 --min-tokens 0 --min-calls 1 --min-needed 1 -q \
             --sample {count} --seed {seed} --jsonl {count}-{seed}.rows",
            "0.jsonl 1.jsonl 2.jsonl 3.jsonl 4.jsonl 5.jsonl"
        );
        assert_eq!(place.run(&line).code, 0);
        let text = String::from_utf8(place.read(&format!("{count}-{seed}.rows"))).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut files: Vec<String> = rows.iter().map(|row| row["file"].to_string()).collect();
        files.dedup();
        files
    };
    let (two, three) = (drawn(2, 1), drawn(3, 1));
    assert_eq!((two.len(), three.len()), (2, 3));
    assert!(two.iter().all(|file| three.contains(file)), "{two:?} {three:?}");
    assert!((2..8).any(|seed| drawn(2, seed) != two), "the seed decides who is drawn");
}
