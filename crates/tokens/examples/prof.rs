//! x
#![allow(clippy::all, missing_docs, clippy::print_stdout, clippy::unwrap_used)]
use epitome_strategy::TokenCounter;
use epitome_tokens::Exact;
use std::time::Instant;
fn main() {
    for f in std::env::args().skip(1) {
        let t = std::fs::read_to_string(&f).unwrap();
        for c in [Exact::O200kBase, Exact::Cl100kBase] {
            let mut best = f64::MAX;
            let mut n = 0;
            for _ in 0..25 {
                let s = Instant::now();
                n = c.count(&t);
                best = best.min(s.elapsed().as_secs_f64());
            }
            print!("{} {n} {:.1} MB/s; ", c.name(), t.len() as f64 / best / 1e6);
        }
        println!("{f}");
    }
}
