//! Counts
#![allow(clippy::print_stdout, missing_docs)]
use epitome_strategy::TokenCounter;
use epitome_tokens::Exact;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    for c in [Exact::O200kBase, Exact::Cl100kBase] {
        let t = std::time::Instant::now();
        let n = c.count(&text);
        let cold = t.elapsed();
        let t = std::time::Instant::now();
        let mut rounds = 0;
        while t.elapsed().as_secs_f64() < 0.5 {
            c.count(&text);
            rounds += 1;
        }
        println!(
            "{} {n} cold {cold:?} warm {:.1} MB/s",
            c.name(),
            text.len() as f64 * rounds as f64 / t.elapsed().as_secs_f64() / 1e6
        );
    }
}
