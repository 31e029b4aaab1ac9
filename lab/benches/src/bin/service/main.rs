//! `service [SCENARIO…]`: what the service costs, as tables: `proxy`, `compact`, `many`, `kept` and `hostile`; all of
//! them without one.
//!
//! The real program runs beside it in front of a made-up provider; nothing leaves this machine. Every comparison is
//! made within one run, request by request.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod conversation;
mod hostile;
mod http;
mod kept;
mod running;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use conversation::Conversation;
use http::Client;
use running::Running;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Prints a table of its own.
type Scenario = fn() -> Outcome;

/// What can be measured, by name.
const SCENARIOS: [(&str, Scenario); 5] =
    [("proxy", proxy), ("compact", compact), ("many", many), ("kept", kept::kept), ("hostile", hostile::hostile)];

const SIZES: [usize; 3] = [10_000, 100_000, 500_000];
const CHAT: &str = "/v1/chat/completions";

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = asked.iter().find(|name| !SCENARIOS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no scenario `{unknown}`; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    for (name, scenario) in SCENARIOS {
        if !asked.is_empty() && !asked.iter().any(|it| it == name) {
            continue;
        }
        if let Err(error) = scenario() {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        }
        println!();
    }
    ExitCode::SUCCESS
}

/// A configuration with so many usable tokens.
pub(crate) fn window(usable: usize) -> String {
    format!("[budget]\nwindow = {}\nreserve_output = 1000\n", usable + 1_000)
}

/// What the proxy adds to a request that it does not compact, against the same request sent to the provider directly.
fn proxy() -> Outcome {
    const TURNS: usize = 60;
    const TIMES: usize = 5;
    println!("| tokens | body | what it does | direct p50 | p99 | through p50 | p99 | added p50 | first request |");
    println!("|---:|---:|---|---:|---:|---:|---:|---:|---:|");
    for size in SIZES {
        let conversation = Conversation::new(size, TURNS);
        // With room for all of it, or with so little that the first request is compacted.
        for (expect, usable) in [("passed", size * 4), ("replayed", size * 11 / 10)] {
            let provider = http::provider()?;
            let service = Running::start(&window(usable), provider)?;
            let mut direct = Client::connect(provider, "key")?;
            let mut through = Client::connect(service.address, "key")?;
            let first = through.post(CHAT, &conversation.request(0))?;
            let (mut without, mut with) = (Vec::new(), Vec::new());
            let mut body = Vec::new();
            for turn in 1..=TURNS {
                body = conversation.request(turn);
                for _ in 0..TIMES {
                    without.push(direct.post(CHAT, &body)?.took);
                    let answer = through.post(CHAT, &body)?;
                    if (answer.status, answer.did.as_str()) != (200, expect) {
                        return Err(format!("{} {} and not {expect}", answer.status, answer.did).into());
                    }
                    with.push(answer.took);
                }
            }
            let (without, with) = (Spread::measure(without), Spread::measure(with));
            println!(
                "| {size} | {} kB | {expect} | {} | {} | {} | {} | {} | {} ({}) |",
                body.len() / 1000,
                ms(without.p50),
                ms(without.p99),
                ms(with.p50),
                ms(with.p99),
                ms(with.p50.saturating_sub(without.p50)),
                ms(first.took),
                first.did
            );
        }
    }
    Ok(())
}

/// `POST /v1/compact` by size and by clients at once.
fn compact() -> Outcome {
    const AT_MOST: Duration = Duration::from_secs(8);
    println!("| tokens | clients | requests | p50 | p99 | requests a second | tokens a second |");
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let service = Running::start(&window(1_000_000), http::provider()?)?;
    for size in SIZES {
        let request = String::from_utf8(Conversation::new(size, 0).request(0))?;
        let body = format!(r#"{{"budget":{},"request":{request}}}"#, size * 36 / 100).into_bytes();
        for clients in [1, 8] {
            let most = 400 / clients;
            let started = Instant::now();
            let one = || {
                let mut client = Client::connect(service.address, "key")?;
                let mut took = Vec::new();
                while took.len() < most && (started.elapsed() < AT_MOST || took.is_empty()) {
                    let answer = client.post("/v1/compact", &body)?;
                    if answer.status != 200 {
                        return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                    }
                    took.push(answer.took);
                }
                Ok(took)
            };
            let took = at_once(clients, |_| one())?;
            let per_second = took.len() as f64 / started.elapsed().as_secs_f64();
            let (requests, spread) = (took.len(), Spread::measure(took));
            println!(
                "| {size} | {clients} | {requests} | {} | {} | {per_second:.1} | {:.2} M |",
                ms(spread.p50),
                ms(spread.p99),
                per_second * size as f64 / 1e6
            );
        }
    }
    Ok(())
}

/// Many conversations at once through the proxy, each with texts and a key of its own: each is compacted first, and
/// goes on. Then as many others, and others again.
fn many() -> Outcome {
    const SESSIONS: usize = 200;
    const TURNS: usize = 10;
    const ROUNDS: usize = 3;
    const SIZE: usize = 100_000;
    let conversation = Conversation::new(SIZE, TURNS);
    let service = Running::start(&window(SIZE * 11 / 10), http::provider()?)?;
    println!("{SESSIONS} conversations of {SIZE} tokens at once, {TURNS} turns each; then as many others.\n");
    println!(
        "| round | seconds | compacted p50 | p99 | replayed p50 | p99 | memory at most | after | archive | decisions |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    println!("| | | | | | | | {} MiB | | |", service.memory().0);
    for round in 0..ROUNDS {
        let all_compacted = Barrier::new(SESSIONS);
        let started = Instant::now();
        let took = at_once(SESSIONS, |number| {
            let (key, the) = (format!("key-{round}-{number}"), format!("the{round}x{number}"));
            let mut took = Vec::new();
            let first = Client::connect(service.address, &key)?.post(CHAT, &conversation.request_in(0, &the));
            // Who fails does not leave the others waiting.
            all_compacted.wait();
            took.push(first?);
            let mut client = Client::connect(service.address, &key)?;
            for turn in 1..=TURNS {
                took.push(client.post(CHAT, &conversation.request_in(turn, &the))?);
            }
            Ok(took)
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let of = |did: &str| Spread::measure(took.iter().filter(|it| it.did == did).map(|it| it.took).collect());
        let (compacted, replayed) = (of("compacted"), of("replayed"));
        let (after, peak) = service.memory();
        let metrics = Client::connect(service.address, "key")?.get("/metrics")?.body;
        let (archive, decisions) = (mib(&metrics, "epitome_archive_bytes"), mib(&metrics, "epitome_session_bytes"));
        println!(
            "| {} | {seconds:.1} | {} | {} | {} | {} | {peak} MiB | {after} MiB | {archive:.0} MiB | {decisions:.0} MiB |",
            round + 1,
            ms(compacted.p50),
            ms(compacted.p99),
            ms(replayed.p50),
            ms(replayed.p99),
        );
    }
    Ok(())
}

/// A figure of `/metrics`, in MiB.
fn mib(metrics: &[u8], name: &str) -> f64 {
    let metrics = String::from_utf8_lossy(metrics);
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0) / f64::from(1 << 20)
}

/// What `client` gives, for so many at once.
pub(crate) fn at_once<T: Send>(clients: usize, client: impl Fn(usize) -> Outcome<Vec<T>> + Sync) -> Outcome<Vec<T>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                scope.spawn({
                    let client = &client;
                    move || client(number)
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a client failed")??);
        }
        Ok(all)
    })
}

/// The middle and the slow end of some durations.
pub(crate) struct Spread {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

impl Spread {
    pub(crate) fn measure(mut took: Vec<Duration>) -> Self {
        took.sort_unstable();
        let at = |share: f64| took.get(((took.len() as f64 * share) as usize).min(took.len().saturating_sub(1)));
        Self { p50: at(0.5).copied().unwrap_or_default(), p99: at(0.99).copied().unwrap_or_default() }
    }
}

pub(crate) fn ms(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
