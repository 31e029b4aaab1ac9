//! `scaling`: what a compaction costs by the size of the session, as a table.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use epitome::engine::{Engine, MemoryArchive, Request, block_on};
use epitome::session::{Message, Session};

const SIZES: [usize; 7] = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = epitome::engine_of(&epitome::Config::default().build(&epitome::registry())?);
    let count = |message: &Message| epitome::engine::count_message(&*engine.counter, message).total as usize;
    println!(
        "| tokens | messages | count | compact to 36 % | after | per 100k tokens | compact again | append and check |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for size in SIZES {
        let session = epitome_benches::session(size, count);
        row(&engine, session)?;
    }
    Ok(())
}

fn row(engine: &Engine, mut session: Session) -> Result<(), Box<dyn std::error::Error>> {
    let messages = session.log().len();
    let counted = fastest(|| engine.ledger(&session));
    let ledger = engine.ledger(&session);
    let before = ledger.total();
    let request = Request::to_budget((f64::from(before) * 0.36) as u32);
    let draft = || block_on(engine.draft(&session, &ledger, &mut MemoryArchive::new(), &request));
    let compacted = fastest(draft);
    let mut ledger = ledger.clone();
    let mut archive = MemoryArchive::new();
    let report = block_on(engine.compact(&mut session, &mut ledger, &mut archive, &request))?;
    let again = Request::to_budget(report.tokens_after / 2);
    let second = fastest(|| block_on(engine.draft(&session, &ledger, &mut MemoryArchive::new(), &again)));
    let new =
        Message::text("", epitome::session::Role::User, epitome::session::Origin::Typed, "And now the next step.");
    let appended = {
        let started = Instant::now();
        for _ in 0..1_000 {
            let key = session.push(new.clone());
            ledger.push(&session, key);
            std::hint::black_box(ledger.total() > request.target);
        }
        started.elapsed() / 1_000
    };
    let per = compacted.as_secs_f64() * 1e3 / (f64::from(before) / 1e5);
    println!(
        "| {before} | {messages} | {:.1} ms | {:.1} ms | {} | {per:.1} ms | {:.1} ms | {:.1} µs |",
        millis(counted),
        millis(compacted),
        report.tokens_after,
        millis(second),
        appended.as_secs_f64() * 1e6,
    );
    Ok(())
}

/// The fastest of at least three runs, for a fifth of a second.
fn fastest<T>(mut run: impl FnMut() -> T) -> Duration {
    let begun = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 3 || begun.elapsed() < Duration::from_millis(200) {
        let started = Instant::now();
        std::hint::black_box(run());
        best = best.min(started.elapsed());
        runs += 1;
    }
    best
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
