//! Benchmarks of the main job and its parts: `cargo bench -p epitome-benches`.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::Bencher;
use epitome::engine::{Engine, MemoryArchive, Request, block_on};
use epitome::session::{Message, Session};

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

fn engine() -> Engine {
    epitome::engine_of(&epitome::Config::default().build(&epitome::registry()).unwrap())
}

fn session(engine: &Engine, tokens: usize) -> Session {
    epitome_benches::session(tokens, |message: &Message| {
        epitome::engine::count_message(&*engine.counter, message).total as usize
    })
}

#[divan::bench(args = SIZES)]
fn count_the_view(bencher: Bencher<'_, '_>, tokens: usize) {
    let engine = engine();
    let session = session(&engine, tokens);
    bencher.bench(|| engine.ledger(&session));
}

#[divan::bench(args = SIZES)]
fn compact_to_a_third(bencher: Bencher<'_, '_>, tokens: usize) {
    let engine = engine();
    let session = session(&engine, tokens);
    let ledger = engine.ledger(&session);
    let request = Request::to_budget(ledger.total() / 3);
    bencher.bench(|| block_on(engine.draft(&session, &ledger, &mut MemoryArchive::new(), &request)).unwrap());
}

#[divan::bench(args = SIZES)]
fn push_and_check(bencher: Bencher<'_, '_>, tokens: usize) {
    let engine = engine();
    let mut session = session(&engine, tokens);
    let mut ledger = engine.ledger(&session);
    let new = Message::text("", epitome::session::Role::User, epitome::session::Origin::Typed, "And the next step?");
    bencher.bench_local(|| {
        let key = session.push(new.clone());
        ledger.push(&session, key);
        ledger.total() > 50_000
    });
}

#[divan::bench]
fn read_the_example(bencher: Bencher<'_, '_>) {
    let bytes = epitome_benches::EXAMPLE.as_bytes();
    bencher.bench(|| epitome::formats::read(bytes.to_vec(), epitome::formats::ReadOptions::default()).unwrap());
}
