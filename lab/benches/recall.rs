//! Benchmarks of the search over what was said: `cargo bench -p epitome-benches --bench recall`.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::Bencher;
use epitome::recall::{Index, Query};
use epitome::session::{Message, Session};

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

fn session(tokens: usize) -> Session {
    let engine = epitome::engine_of(&epitome::Config::default().build(&epitome::registry()).unwrap());
    epitome_benches::session(tokens, |message: &Message| {
        epitome::engine::count_message(&*engine.counter, message).total as usize
    })
}

#[divan::bench(args = SIZES)]
fn build_the_index(bencher: Bencher<'_, '_>, tokens: usize) {
    let session = session(tokens);
    bencher.bench(|| Index::build(&session));
}

#[divan::bench(args = SIZES)]
fn search_with_a_question(bencher: Bencher<'_, '_>, tokens: usize) {
    let index = Index::build(&session(tokens));
    let query =
        Query::new("Which column does the partner join its reconciliation on, and what must stay as it is stored?");
    bencher.bench(|| index.search(&query));
}

#[divan::bench(args = SIZES)]
fn search_with_a_name(bencher: Bencher<'_, '_>, tokens: usize) {
    let index = Index::build(&session(tokens));
    bencher.bench(|| index.search(&Query::new("parse_amount")));
}

#[divan::bench(args = SIZES)]
fn say_where_passages_are(bencher: Bencher<'_, '_>, tokens: usize) {
    let session = session(tokens);
    let page = Index::build(&session).search(&Query::new("fingerprint")).unwrap();
    bencher.bench(|| {
        let mut page = page.clone();
        page.locate(&session);
        page
    });
}
