//! The quick way and the full way give the same, turn by turn.

#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use epitome::Config;
use epitome::formats::{ReadOptions, Wire, read, render};
use serde_json::{Value, json};

use super::*;
use crate::conversation::decisions::{Decisions, Slot};
use crate::conversation::host::NoHost;
use crate::conversation::matched_request::RawRequest;
use crate::conversation::prepare::prepare;

type Memory = Decisions<Arc<Mutex<Conversation>>>;

/// A decider for a window with this many usable tokens.
fn decider(usable: u32, chain: &str) -> Decider {
    let registry = epitome::registry();
    let mut config = format!("[budget]\nwindow = {}\nreserve_output = 100\n", usable + 100);
    if !chain.is_empty() {
        config += &format!("[select]\nmode = \"fixed\"\nchain = \"only\"\n[chains]\nonly = [\"{chain}\"]\n");
    }
    let runtime = Config::parse(&config, "test.toml", &registry).unwrap().build(&registry).unwrap();
    let engine = epitome::engine_of(&runtime);
    Decider::new(runtime, engine, [7; 32], 1 << 20)
}

fn incoming(decider: &Decider, wire: Wire, body: String) -> Result<MatchedRequest, &'static str> {
    let seed = decider.seed("owner", wire, std::iter::empty());
    RawRequest::new(decider, Arc::from("owner"), wire, seed, Bytes::from(body))?.learn(decider)
}

/// The full way, with the memory of one conversation.
fn prepare_alone(decider: &Decider, incoming: &MatchedRequest, known: &mut Conversation) -> PreparedRequest {
    let shared = Slot::new(Conversation::default());
    prepare(decider, &Memory::new(1, 1 << 20), incoming, &shared, known, &NoHost)
}

/// The number of requests that took the quick way, and of those that took the full one.
#[derive(Debug, Default, Clone, Copy)]
struct Ways {
    quick: usize,
    full: usize,
    replayed: usize,
}

/// Sends a conversation turn by turn to two services: one goes the quick way where it can, the other never.
fn check(name: &str, profile: Wire, requests: &[String], usable: u32) -> Ways {
    check_with("", name, profile, requests, usable)
}

/// The same with a chain of one strategy.
fn check_with(chain: &str, name: &str, profile: Wire, requests: &[String], usable: u32) -> Ways {
    let (quick_way, full_way) = (decider(usable, chain), decider(usable, chain));
    let (mut known, mut slow) = (Conversation::default(), Conversation::default());
    let mut ways = Ways::default();
    for (turn, body) in requests.iter().enumerate() {
        let of_slow = incoming(&full_way, profile, body.clone());
        let request = incoming(&quick_way, profile, body.clone());
        let (Ok(request), Ok(of_slow)) = (request, of_slow) else { continue };
        let expect = prepare_alone(&full_way, &of_slow, &mut slow);
        let quick = prepare_fast(&quick_way, &request, &mut known.copy());
        ways.quick += usize::from(quick.is_some());
        ways.full += usize::from(quick.is_none());
        let found = quick.unwrap_or_else(|| prepare_alone(&quick_way, &request, &mut known));
        ways.replayed += usize::from(found.outcome == FitOutcome::Replayed);
        let place = format!("{name}, {profile:?}, turn {turn}");
        assert_eq!(
            (found.outcome, found.detail, found.counts),
            (expect.outcome, expect.detail, expect.counts),
            "{place}"
        );
        assert!(found.body == expect.body, "{place}: other bytes");
        assert!(found.provenance.is_none() && known.provenance.is_none(), "{place}: nobody asked for it");
    }
    ways
}

/// The requests of a session, one for each time that it was the model's turn, at most so many.
fn requests(session: &epitome::Session, profile: Wire, most: usize) -> Vec<String> {
    let rendered = render(session.view(), profile, session.tools.as_deref(), None).json;
    let mut request: Value = serde_json::from_str(&rendered).unwrap();
    let list = profile.list_field();
    let items = request[list].take().as_array().cloned().unwrap_or_default();
    let is_model = |item: &Value| {
        matches!(item["role"].as_str(), Some("assistant" | "model"))
            || matches!(item["type"].as_str(), Some("function_call" | "reasoning"))
    };
    let ends: Vec<usize> =
        (1..=items.len()).filter(|end| !is_model(&items[end - 1]) && items.get(*end).is_none_or(is_model)).collect();
    let step = ends.len().div_ceil(most).max(1);
    let at = |end: &usize| {
        let mut request = request.clone();
        request[list] = Value::Array(items[..*end].to_vec());
        request["model"] = json!("m");
        request.to_string()
    };
    ends.iter().step_by(step).map(at).collect()
}

#[test]
fn shipped_sessions() {
    let example = include_bytes!("../../../../examples/session.jsonl");
    let loaded = read(example.to_vec(), ReadOptions::default()).unwrap();
    for profile in Wire::ALL {
        let requests = requests(&loaded.sessions[0].session, profile, 40);
        for usable in [3_000, 6_000, 100_000] {
            let ways = check("the example", profile, &requests, usable);
            assert!(ways.quick > 0 && (usable == 100_000 || ways.full > 0), "{profile:?} {usable}: {ways:?}");
        }
    }
}

/// Turns after a compaction that cannot be sent as they came, or only just can.
#[test]
fn odd_turns() {
    let long = |number: usize| format!("Part {number}: {}", "warning: nothing else to say. ".repeat(40 + number));
    let mut items = vec![json!({"role": "user", "content": "Find out why the build of the parser fails."})];
    for number in 0..12 {
        let id = format!("c{number}");
        let function = json!({"name": "bash", "arguments": "{\"command\":\"make\"}"});
        items.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        items.push(json!({"role": "tool", "tool_call_id": id, "content": long(number)}));
    }
    items.push(json!({"role": "user", "content": "And now?"}));
    let call = |id: &str| {
        json!({"role": "assistant", "content": "I look.", "tool_calls":
            [{"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}}]})
    };
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let asked = |text: &str| json!({"role": "user", "content": text});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "Fine."});
    let tails: [Vec<Value>; 8] = [
        vec![said("Yes."), asked("Go on.")],
        vec![asked("Still there?"), asked("Hello?")],
        vec![call("x"), asked("Never mind the result.")],
        vec![call("x"), result("x"), result("x"), asked("Twice?")],
        vec![call("x"), asked("Wait."), result("x"), asked("It came late.")],
        vec![call("c0"), result("c0"), asked("An id for the second time.")],
        vec![result("c11"), asked("A result without its call.")],
        vec![said("Half an ans")],
    ];
    for tail in tails {
        let body = |items: &[Value]| json!({"model": "m", "messages": items}).to_string();
        let mut turns = vec![body(&items)];
        let mut longer = items.clone();
        for part in tail.iter().cloned().chain([said("Well."), asked("Then?"), said("So."), asked("End?")]) {
            longer.push(part);
            turns.push(body(&longer));
        }
        // A second try, from the compaction on.
        longer.truncate(items.len());
        longer.extend([call("y"), asked("Never mind the result.")]);
        for number in 0..6 {
            longer.extend([said(&format!("Otherwise, {number}.")), asked("Oh?")]);
        }
        turns.push(body(&longer));
        let ways = check("an odd turn", Wire::OpenaiChat, &turns, 4_000);
        assert!(ways.replayed > 2, "{tail:?}: {ways:?}");
    }
}

/// A client whose messages took turns up to the compaction, and do not behind it.
#[test]
fn two_messages_in_a_row() {
    let said = |role: &str, number: usize| {
        let text = format!("Part {number}: {}", "nothing else to say of it. ".repeat(30));
        json!({"role": role, "content": text})
    };
    let mut items: Vec<Value> = (0..18).map(|at| said(if at % 2 == 0 { "user" } else { "assistant" }, at)).collect();
    let mut turns = Vec::new();
    for end in (1..18).step_by(2) {
        turns.push(json!({"model": "m", "messages": items[..end]}).to_string());
    }
    items.extend([json!({"role": "user", "content": "Stop."}), json!({"role": "user", "content": "Go on."})]);
    turns.push(json!({"model": "m", "messages": items}).to_string());
    let (decider, mut known, mut last) = (decider(4_000, ""), Conversation::default(), Vec::new());
    for body in turns {
        let request = incoming(&decider, Wire::OpenaiChat, body).unwrap();
        let prepared = prepare_alone(&decider, &request, &mut known);
        let mut sent: Value = serde_json::from_slice(&prepared.body).unwrap();
        let sent = sent["messages"].take().as_array().cloned().unwrap();
        assert!(prepared.outcome == FitOutcome::Compacted || sent.starts_with(&last), "{sent:?}, not as {last:?}");
        last = sent;
    }
    assert!(last.len() < 10 && last.ends_with(&items[18..]), "it was compacted, and ends as it came: {last:?}");
}

/// Between the thresholds, in the middle of work: nothing is done, and nothing is read that was read before.
#[test]
fn a_wait_takes_the_quick_way() {
    let text = |words: usize| "word ".repeat(words);
    let call = json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": text(700)});
    let began = json!({"role": "user", "content": text(1_500)});
    let body = |items: &[Value]| json!({"model": "m", "messages": items}).to_string();
    let at_work = check("at work", Wire::OpenaiChat, &[body(&[began.clone(), call.clone(), result.clone()])], 4_000);
    assert_eq!((at_work.quick, at_work.full), (1, 0));
    let answered = [
        began,
        call,
        result,
        json!({"role": "assistant", "content": "Done."}),
        json!({"role": "user", "content": "Next."}),
    ];
    let at_its_end = check("at its end", Wire::OpenaiChat, &[body(&answered)], 4_000);
    assert_eq!((at_its_end.quick, at_its_end.full), (0, 1));
}

/// Fields that say nothing, in messages that are cut: they are the ones of the request.
#[test]
fn fields_of_the_client() {
    let body = |turn: usize| {
        let mut items = vec![json!({"role": "user", "content": "Find out why the build fails."})];
        for number in 0..10 + turn {
            let function = json!({"name": "bash", "arguments": "{}"});
            let id = format!("c{number}");
            items.push(json!({"role": "assistant", "content": null, "turn": turn / 2,
                "tool_calls": [{"id": id, "type": "function", "function": function}]}));
            let output: Vec<String> = (0..60).map(|line| format!("src/{number}/{line}.rs: nothing to say")).collect();
            items.push(json!({"role": "tool", "tool_call_id": id, "content": output.join("\n"), "turn": turn / 2}));
        }
        json!({"model": "m", "messages": items}).to_string()
    };
    let requests: Vec<String> = (0..12).map(body).collect();
    let ways = check_with("tool-results", "fields", Wire::OpenaiChat, &requests, 8_000);
    assert!(ways.replayed > 4, "{ways:?}");
}

/// White space, fields on both sides of the list, marks that move, a prompt with a date: bytes of the client's own.
#[test]
fn bytes_of_the_client() {
    let text = |number: usize| format!("Part {number}: {}", "warning: nothing else to say. ".repeat(60));
    let body = |turn: usize| {
        let mut items = vec![r#"{"role" : "user", "content": "Find out why the build fails."}"#.to_owned()];
        for number in 0..10 + turn {
            let id = format!("t{number}");
            items.push(format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"bash","input":{{"n": 1.0}} }}]}}"#
            ));
            let mark = if number + 2 >= 10 + turn { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
            items.push(format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{}{mark}}}]}}"#,
                json!(text(number))
            ));
        }
        let system = format!("It is day {turn}. {}", "Rain. ".repeat(turn));
        format!(
            "{{ \"max_tokens\": 50,\n \"messages\" : [\n  {}\n ] , \"system\":{} }}\n",
            items.join(" ,\n  "),
            json!([{"type": "text", "text": system}])
        )
    };
    let requests: Vec<String> = (0..24).map(body).collect();
    let ways = check("marks", Wire::Anthropic, &requests, 9_000);
    assert!(ways.quick > ways.full && ways.replayed > 8, "{ways:?}");
}

#[test]
fn recorded_sessions() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or_else(|| root.join("../shared/data/dev"), PathBuf::from);
    // The harness holds back what macros print.
    let tell = |line: String| std::io::stderr().write_all(line.as_bytes()).unwrap();
    let mut files = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    if files.is_empty() {
        return tell(format!("NOT RUN on recorded sessions: there are none at {}\n", folder.display()));
    }
    let mut all = Ways::default();
    for (number, file) in files.iter().enumerate() {
        let small = file.metadata().is_ok_and(|metadata| metadata.len() < 1 << 20);
        let loaded = small.then(|| read(std::fs::read(file).unwrap(), ReadOptions::default()).ok()).flatten();
        let Some(loaded) = loaded else { continue };
        let session = &loaded.sessions[0].session;
        let tokens = decider(1_000, "").engine(Wire::OpenaiChat).ledger(session).total();
        if tokens < 3_000 {
            continue;
        }
        // One format each: all of them take three times as long and find the same.
        let profile = Wire::ALL[number % Wire::ALL.len()];
        let requests = requests(session, profile, 10);
        let ways = check(&file.display().to_string(), profile, &requests, (tokens / 2).max(2_000));
        (all.quick, all.full, all.replayed) =
            (all.quick + ways.quick, all.full + ways.full, all.replayed + ways.replayed);
    }
    tell(format!("recorded sessions, turn by turn through the proxy: {all:?}\n"));
    assert!(all.quick > all.full, "{all:?}");
}
