//! What is hard on whoever compares everything with everything, through the service's routes and the proxy.

use std::time::Duration;

use epitome_benches::hostile;

use crate::http::{self, Client};
use crate::running::Running;
use crate::{CHAT, Outcome, ms, window};

/// No bound of the service is to stop what is measured.
const UNBOUNDED: [&str; 6] = ["--max-body", "1024", "--max-parts", "10000000", "--work-timeout", "3600"];

/// What is sent: its name, its largest size, and what makes it.
type Kind = (&'static str, usize, fn(usize) -> String);

/// Each is sent in three sizes ten times apart.
const KINDS: [Kind; 5] = [
    ("one letter", 50_000_000, hostile::one_letter),
    ("one line", 4_000_000, hostile::one_line),
    ("parallel calls", 100_000, |calls| hostile::parallel_calls(calls, hostile::Results::InOrder)),
    ("unanswered calls", 100_000, |calls| hostile::parallel_calls(calls, hostile::Results::None)),
    ("tiny messages", 1_000_000, hostile::tiny_messages),
];

const ROUTES: [&str; 5] = ["/v1/compact", "/v1/inspect", "/v1/check", "/v1/sessions", CHAT];

/// How long each takes in three sizes, and how many times as long the largest takes as the one before: ten times is linear.
pub(crate) fn hostile() -> Outcome {
    println!("| what | largest | route | a hundredth | a tenth | all of it | times |");
    println!("|---|---:|---|---:|---:|---:|---:|");
    for (name, most, make) in KINDS {
        for route in ROUTES {
            let mut took = Vec::new();
            for size in [most / 100, most / 10, most] {
                // A service of its own for each: nothing of one is in the way of another.
                let service = Running::start_with(&window(4_000), http::provider()?, &UNBOUNDED)?;
                let body = body(route, &make(size));
                let answer = Client::connect(service.address, "key")?.post(route, body.as_bytes())?;
                // What cannot be made to fit was worked on all the same.
                if !matches!(answer.status, 200 | 201 | 422) {
                    let said = String::from_utf8_lossy(&answer.body).into_owned();
                    return Err(format!("{name} of {size}, {route}: {} {said}", answer.status).into());
                }
                took.push(answer.took);
            }
            let times = took[2].as_secs_f64() / took[1].max(Duration::from_micros(1)).as_secs_f64();
            let [small, middle, large] = [took[0], took[1], took[2]].map(ms);
            println!("| {name} | {most} | `{route}` | {small} | {middle} | {large} | {times:.1} |");
        }
    }
    Ok(())
}

/// What a route takes.
fn body(route: &str, request: &str) -> String {
    match route {
        CHAT => request.to_owned(),
        "/v1/compact" => format!(r#"{{"budget":20000,"request":{request}}}"#),
        _ => format!(r#"{{"request":{request}}}"#),
    }
}
