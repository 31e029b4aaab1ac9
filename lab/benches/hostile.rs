//! Sessions that nobody means well with, or that a broken agent made: `cargo bench -p epitome-benches --bench hostile`.
//!
//! Each is read from an OpenAI chat request, compacted to a third and written again; and read, counted and told what kind of
//! task it is, as `inspect` and `check` do. What matters is the way from one
//! size to the next: ten times the input may take ten times as long, and no more.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::Bencher;
use divan::counter::BytesCount;
use epitome::engine::{Engine, MemoryArchive, Request, block_on};
use epitome::formats::{Format, ReadOptions, read, write};
use epitome_benches::hostile;

fn main() {
    divan::main();
}

/// One text of so many bytes of a single letter.
#[divan::bench(args = [500_000, 5_000_000, 50_000_000], sample_count = 1, sample_size = 1)]
fn one_letter(bencher: Bencher<'_, '_>, bytes: usize) {
    through(bencher, hostile::one_letter(bytes));
}

/// One text of so many characters of words and signs without a line feed.
#[divan::bench(args = [40_000, 400_000, 4_000_000], sample_count = 1, sample_size = 1)]
fn one_line(bencher: Bencher<'_, '_>, characters: usize) {
    through(bencher, hostile::one_line(characters));
}

/// One step of so many calls, whose results come in the order of the calls.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 1, sample_size = 1)]
fn parallel_calls(bencher: Bencher<'_, '_>, calls: usize) {
    through(bencher, hostile::parallel_calls(calls, hostile::Results::InOrder));
}

/// The same, the newest call answered first.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 1, sample_size = 1)]
fn parallel_calls_backwards(bencher: Bencher<'_, '_>, calls: usize) {
    through(bencher, hostile::parallel_calls(calls, hostile::Results::Backwards));
}

/// The same, all under one id.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 1, sample_size = 1)]
fn parallel_calls_of_one_id(bencher: Bencher<'_, '_>, calls: usize) {
    through(bencher, hostile::parallel_calls(calls, hostile::Results::OneId));
}

/// The same, none of them answered.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 1, sample_size = 1)]
fn parallel_calls_unanswered(bencher: Bencher<'_, '_>, calls: usize) {
    through(bencher, hostile::parallel_calls(calls, hostile::Results::None));
}

/// So many messages of a word each, in turns.
#[divan::bench(args = [10_000, 100_000, 1_000_000], sample_count = 1, sample_size = 1)]
fn tiny_messages(bencher: Bencher<'_, '_>, messages: usize) {
    through(bencher, hostile::tiny_messages(messages));
}

/// The same sessions looked at and not compacted.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 1, sample_size = 1)]
fn parallel_calls_looked_at(bencher: Bencher<'_, '_>, calls: usize) {
    look(bencher, hostile::parallel_calls(calls, hostile::Results::InOrder));
}

#[divan::bench(args = [10_000, 100_000, 1_000_000], sample_count = 1, sample_size = 1)]
fn tiny_messages_looked_at(bencher: Bencher<'_, '_>, messages: usize) {
    look(bencher, hostile::tiny_messages(messages));
}

#[divan::bench(args = [500_000, 5_000_000, 50_000_000], sample_count = 1, sample_size = 1)]
fn one_letter_looked_at(bencher: Bencher<'_, '_>, bytes: usize) {
    look(bencher, hostile::one_letter(bytes));
}

#[divan::bench(args = [40_000, 400_000, 4_000_000], sample_count = 1, sample_size = 1)]
fn one_line_looked_at(bencher: Bencher<'_, '_>, characters: usize) {
    look(bencher, hostile::one_line(characters));
}

/// Reads, counts, tells the kind of task.
fn look(bencher: Bencher<'_, '_>, request: String) {
    let engine = epitome::engine_of(&epitome::Config::default().build(&epitome::registry()).unwrap());
    bencher.counter(BytesCount::of_str(&request)).bench_local(|| {
        let loaded = read(request.as_bytes().to_vec(), ReadOptions::default()).unwrap();
        let session = &loaded.sessions[0].session;
        let ledger = engine.ledger(session);
        engine.detect(session, &ledger).evidence.len() + ledger.total() as usize
    });
}

/// Reads, compacts to a third, writes.
fn through(bencher: Bencher<'_, '_>, request: String) {
    let engine = epitome::engine_of(&epitome::Config::default().build(&epitome::registry()).unwrap());
    bencher.counter(BytesCount::of_str(&request)).bench_local(|| compacted(&engine, &request));
}

fn compacted(engine: &Engine, request: &str) -> usize {
    let loaded = read(request.as_bytes().to_vec(), ReadOptions::default()).unwrap();
    let mut session = loaded.sessions[0].session.clone();
    let mut ledger = engine.ledger(&session);
    let budget = Request::to_budget(ledger.total() / 3);
    let report = block_on(engine.compact(&mut session, &mut ledger, &mut MemoryArchive::new(), &budget)).unwrap();
    let written = write(&loaded, 0, &session, Format::OpenaiChat).unwrap();
    report.messages.len() + written.len()
}
