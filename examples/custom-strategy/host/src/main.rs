//! Compacts a session with a strategy that does not ship with epitome.

use std::error::Error;

use epitome::engine::{Request, block_on};
use epitome::formats::{ReadOptions, read};
use epitome::strategy::Registration;
use epitome::{Config, MemoryArchive};
use error_lines::ErrorLines;

/// What an `epitome.toml` would hold.
const CONFIG: &str = r#"
[select]
mode = "fixed"
chain = "mine"

[chains]
mine = ["error-lines", "sliding-window"]

[strategies.error-lines]
keep_outputs = 4
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "examples/session.jsonl".to_owned());
    let budget = std::env::args().nth(2).map_or(Ok(20_000), |tokens| tokens.parse())?;

    let mut registry = epitome::registry();
    registry.register(Registration::configurable::<ErrorLines>())?;
    let runtime = Config::parse(CONFIG, "epitome.toml", &registry)?.build(&registry)?;
    let engine = epitome::engine_of(&runtime);

    let mut session = read(std::fs::read(&file)?, ReadOptions::default())?.sessions.remove(0).session;
    let mut ledger = engine.ledger(&session);
    let mut archive = MemoryArchive::new();
    let request = Request { chain: runtime.fixed.clone(), ..Request::to_budget(budget) };
    let report = block_on(engine.compact(&mut session, &mut ledger, &mut archive, &request))?;

    println!("{:?}: {} to {} tokens", report.status, report.tokens_before, report.tokens_after);
    for step in &report.steps {
        println!("{}: {} edits, {} to {} tokens", step.strategy, step.edits, step.tokens_before, step.tokens_after);
    }
    Ok(())
}
