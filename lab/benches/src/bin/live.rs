//! `live`: what a message and a check cost in a session that is going on, by the length of its history, as a table.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use epitome::engine::block_on;
use epitome::live::{Compaction, LiveSession};
use epitome::session::Message;
use epitome::{Runtime, Session};

const SIZES: [usize; 7] = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
/// Messages that are timed at each size.
const TIMED: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = epitome::Config::default();
    config.set("budget.window", &1_000_000_000.into())?;
    let runtime = config.build(&epitome::registry())?;
    let engine = epitome::engine_of(&runtime);
    let count = |message: &Message| epitome::engine::count_message(&*engine.counter, message).total as usize;
    println!("| tokens | messages | push | push into a file | check | compact to 36 % | open the file |");
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for size in SIZES {
        row(&runtime, epitome_benches::messages(size, count), epitome_benches::messages(100_000, count))?;
    }
    Ok(())
}

fn row(runtime: &Runtime, history: Vec<Message>, new: Vec<Message>) -> Result<(), Box<dyn std::error::Error>> {
    let mut session = Session::new();
    for message in history {
        session.push(message);
    }
    let mut live = LiveSession::with_session(runtime, session);
    let (tokens, messages) = (live.tokens(), live.session().log().len());
    let new = &new[..TIMED.min(new.len())];
    let in_memory = per(new.len(), || new.iter().try_for_each(|message| live.push(message.clone()).map(drop)))?;
    let checked = per(100_000, || {
        for _ in 0..100_000 {
            std::hint::black_box(live.check());
        }
        Ok(())
    })?;
    let path = std::env::temp_dir().join(format!("epitome-live-{}.jsonl", std::process::id()));
    live.keep_in(&path)?;
    let into_file = per(new.len(), || new.iter().try_for_each(|message| live.push(message.clone()).map(drop)))?;
    let compaction = Compaction { target: Some((f64::from(tokens) * 0.36) as u32), ..Compaction::default() };
    let compacted = per(1, || block_on(live.compact(&compaction)).map(drop))?;
    drop(live);
    let opened = per(1, || LiveSession::open(runtime, &path).map(drop))?;
    std::fs::remove_file(&path)?;
    let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
    println!(
        "| {tokens} | {messages} | {:.0} µs | {:.0} µs | {:.0} ns | {:.1} ms | {:.1} ms |",
        micros(in_memory),
        micros(into_file),
        checked.as_secs_f64() * 1e9,
        micros(compacted) / 1e3,
        micros(opened) / 1e3,
    );
    Ok(())
}

/// The time of one of `count` things that `run` does.
fn per(
    count: usize,
    run: impl FnOnce() -> Result<(), epitome::live::LiveError>,
) -> Result<Duration, epitome::live::LiveError> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed() / count.max(1) as u32)
}
