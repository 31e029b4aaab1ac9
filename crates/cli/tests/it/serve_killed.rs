//! A service that is killed while it compacts: each session is as it was before, or as it is after.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::place::Place;
use crate::serve::{Serving, asked};

/// How often it is killed.
const KILLS: usize = 40;

/// Steps of tools that a session gains each time; a step has about 650 tokens.
const STEPS: usize = 4;

fn step(number: usize) -> [Value; 2] {
    let id = format!("call_{number}");
    let lines: Vec<String> =
        (0..30).map(|line| format!("src/part_{number}/file_{line}.rs: checked, {} warnings", line * 7)).collect();
    let arguments = json!({"command": format!("make part_{number}")}).to_string();
    let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": id, "content": lines.join("\n")}),
    ]
}

/// Sends a request and does not wait for the answer.
fn sent(serving: &Serving, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&serving.address).unwrap();
    let (host, length) = (&serving.address, body.len());
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn done(serving: &Serving, method: &str, path: &str, body: &str) -> Value {
    let (status, answer) = asked(serving, method, path, body);
    assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    answer
}

fn ids(serving: &Serving, view: &str) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let path = format!("/v1/sessions/s/messages?view={view}&limit=500&from={}", ids.len());
        let page = done(serving, "GET", &path, "");
        ids.extend(
            page["messages"].as_array().unwrap().iter().map(|it| it["message"]["id"].as_str().unwrap().to_owned()),
        );
        if ids.len() as u64 >= page["total"].as_u64().unwrap() {
            return ids;
        }
    }
}

#[test]
fn a_killed_service_leaves_sessions_whole() {
    let place = Place::with("c.toml", "[budget]\nwindow = 9_000\nreserve_output = 1_000\n");
    let options = "--config c.toml --store sqlite:e.sqlite --log warn --requests-per-minute 0";
    let mut serving = Serving::start(&place, options);
    let task = json!({"messages": [{"role": "user", "content": "Find out why the build of the parser fails."}]});
    done(&serving, "POST", "/v1/sessions", &json!({"id": "s", "request": task}).to_string());
    let (mut made, mut steps) = (0, 0);
    for kill in 0..KILLS {
        for _ in 0..STEPS {
            let messages = json!({"messages": step(steps)}).to_string();
            done(&serving, "POST", "/v1/sessions/s/messages", &messages);
            steps += 1;
        }
        let (full, before) = (ids(&serving, "full"), ids(&serving, "compacted"));
        let epochs = done(&serving, "GET", "/v1/sessions/s", "")["epochs"].as_u64().unwrap();
        let events = sent(&serving, "GET", "/v1/sessions/s/events", "");
        let mut heard = BufReader::new(events).lines().map_while(Result::ok).filter(|line| line.starts_with("event:"));
        heard.next().unwrap();
        let asking = sent(&serving, "POST", "/v1/sessions/s/compact", r#"{"target": 2000}"#);
        // At once, at its start, at each of its steps, when it is told to be done; or while the database is written.
        if kill % 2 == 0 {
            heard.by_ref().take(kill / 2 % 8).take_while(|line| !line.contains("token_update")).for_each(drop);
        } else {
            let log = place.path("e.sqlite-wal");
            let written = || std::fs::metadata(&log).and_then(|it| Ok((it.len(), it.modified()?))).ok();
            let (was, mut looks) = (written(), 0);
            while written() == was && looks < 200_000 {
                looks += 1;
            }
        }
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        drop(asking);
        serving = Serving::start(&place, options);
        assert_eq!(ids(&serving, "full"), full, "kill {kill}: what was said is there, and once");
        let info = done(&serving, "GET", "/v1/sessions/s", "");
        let after = ids(&serving, "compacted");
        if info["epochs"].as_u64() == Some(epochs) {
            assert_eq!(after, before, "kill {kill}: as it was before");
            continue;
        }
        made += 1;
        assert_eq!(info["epochs"].as_u64(), Some(epochs + 1), "kill {kill}");
        let entry = &done(&serving, "GET", "/v1/sessions/s/history", "")["epochs"][epochs as usize];
        let tokens = info["context"]["usedTokens"].as_u64();
        assert_eq!(entry["tokens_after"].as_u64(), tokens, "kill {kill}: as it is after");
        for handle in entry["recall"].as_array().unwrap() {
            done(&serving, "GET", &format!("/v1/sessions/s/recall/{}", handle.as_str().unwrap()), "");
        }
        if kill % 3 == 0 {
            done(&serving, "POST", "/v1/sessions/s/undo", "{}");
            assert_eq!(ids(&serving, "compacted"), before, "kill {kill}: undone");
        }
    }
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    assert!(made > 0 && made < KILLS, "{made} of {KILLS} compactions were stored before the end");
}
