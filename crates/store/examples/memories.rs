//! Prints what would be remembered of recorded sessions: `cargo run --example memories -- FILE…`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use epitome_formats::{ReadOptions, read};
use epitome_store::extract;
use epitome_strategy::Lexicon;

fn main() {
    for file in std::env::args().skip(1) {
        let Ok(loaded) = read(std::fs::read(&file).unwrap(), ReadOptions::default()) else { continue };
        for session in &loaded.sessions {
            let log = session.session.log();
            let memories = extract(log, session.session.id.as_ref(), &Lexicon::standard(), 12);
            println!("\n{file} {}: {} messages", session.name, log.len());
            for memory in memories {
                println!("  {:<11} {:<8} {}", format!("{:?}", memory.kind), memory.message.as_str(), memory.text);
            }
        }
    }
}
