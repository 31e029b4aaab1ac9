//! Sessions that the service keeps, many at once.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::conversation::Conversation;
use crate::http::{self, Client};
use crate::running::Running;
use crate::{Outcome, Spread, at_once, ms, window};

const SESSIONS: usize = 200;
const TURNS: usize = 20;

/// Each client makes a session, then appends a message, asks whether a compaction is due, and reads the newest messages,
/// turn by turn; at the end it compacts. By the length of the sessions.
pub(crate) fn kept() -> Outcome {
    println!("{SESSIONS} sessions at once, {TURNS} turns each, in SQLite.\n");
    println!("| tokens | what | p50 | p99 | requests a second | memory at most |");
    println!("|---:|---|---:|---:|---:|---:|");
    for size in [1_000, 10_000, 50_000] {
        let conversation = Conversation::new(size, 0);
        let service = Running::start(&window(size * 2), http::provider()?)?;
        let made = String::from_utf8(conversation.request(0))?;
        let all = Barrier::new(SESSIONS);
        let took = at_once(SESSIONS, |number| {
            let mut client = Client::connect(service.address, "key")?;
            let id = format!("session-{number}");
            let mut took = Vec::new();
            let body = format!(r#"{{"id":"{id}","request":{made}}}"#);
            let created = ask(&mut client, "POST", "/v1/sessions", body.as_bytes(), 201);
            // Who fails does not leave the others waiting.
            all.wait();
            took.push(("create", created?));
            for turn in 0..TURNS {
                let role = if turn % 2 == 0 { "assistant" } else { "user" };
                let message =
                    json!({"messages": [{"role": role, "content": format!("Part {turn} is left to be done.")}]});
                let path = format!("/v1/sessions/{id}/messages");
                took.push(("append", ask(&mut client, "POST", &path, message.to_string().as_bytes(), 200)?));
                took.push(("check", ask(&mut client, "GET", &format!("/v1/sessions/{id}/check"), &[], 200)?));
            }
            took.push(("read 50", ask(&mut client, "GET", &format!("/v1/sessions/{id}/messages"), &[], 200)?));
            let target = json!({"target": size / 2}).to_string();
            let path = format!("/v1/sessions/{id}/compact");
            took.push(("compact", ask(&mut client, "POST", &path, target.as_bytes(), 200)?));
            Ok(took)
        })?;
        let peak = service.memory().1;
        for what in ["create", "append", "check", "read 50", "compact"] {
            let of: Vec<_> = took.iter().filter(|(name, _)| *name == what).map(|(_, took)| *took).collect();
            let (first, last) = (of.iter().map(|it| it.0).min(), of.iter().map(|it| it.0 + it.1).max());
            let seconds = last.zip(first).map_or(0.0, |(last, first)| (last - first).as_secs_f64());
            let (count, spread) = (of.len() as f64, Spread::measure(of.iter().map(|it| it.1).collect()));
            println!(
                "| {size} | {what} | {} | {} | {:.0} | {peak} MiB |",
                ms(spread.p50),
                ms(spread.p99),
                count / seconds
            );
        }
    }
    Ok(())
}

/// When a request was begun, and how long it took.
type Took = (Instant, Duration);

fn ask(client: &mut Client, method: &str, path: &str, body: &[u8], expect: u16) -> Outcome<Took> {
    let begun = Instant::now();
    let answer = client.ask(method, path, body)?;
    if answer.status != expect {
        return Err(format!("{path}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)).into());
    }
    Ok((begun, answer.took))
}
