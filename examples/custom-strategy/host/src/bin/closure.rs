//! Compacts a session with a function over messages.

use std::error::Error;

use epitome::engine::{Chain, Request, block_on};
use epitome::formats::{ReadOptions, read};
use epitome::strategy::adapter::from_messages;
use epitome::strategy::{Goal, Lossiness, Meta, RequiredServices};
use epitome::{Config, MemoryArchive, Message};

const META: Meta = Meta {
    id: "first-lines",
    summary: "Of tool outputs older than the newest ten messages the first three lines stay.",
    docs: "",
    lossiness: Lossiness::Partial,
    needs: RequiredServices::NONE,
    since: "0.1.0",
};

/// What should be left of the messages.
fn first_lines(mut messages: Vec<Message>, _goal: &Goal) -> Result<Vec<Message>, String> {
    let old = messages.len().saturating_sub(10);
    for block in messages[..old].iter_mut().flat_map(|message| &mut message.blocks) {
        let Some(result) = block.as_result() else { continue };
        if result.text.lines().count() > 6 {
            let first: String = result.text.split_inclusive('\n').take(3).collect();
            *block = block.with_text(format!("{first}[the rest was omitted]").into());
        }
    }
    Ok(messages)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "examples/session.jsonl".to_owned());

    let engine = epitome::engine_of(&Config::default().build(&epitome::registry())?);
    let mut session = read(std::fs::read(&file)?, ReadOptions::default())?.sessions.remove(0).session;
    let mut ledger = engine.ledger(&session);
    let chain = Chain(vec![from_messages(META, first_lines)]);
    let request = Request { chain: Some(chain), ..Request::to_budget(20_000) };
    let report = block_on(engine.compact(&mut session, &mut ledger, &mut MemoryArchive::new(), &request))?;

    println!("{:?}: {} to {} tokens", report.status, report.tokens_before, report.tokens_after);
    for step in &report.steps {
        println!("{}: {} edits, {} to {} tokens", step.strategy, step.edits, step.tokens_before, step.tokens_after);
        if let Some(reason) = &step.declined {
            println!("  declined: {reason}");
        }
    }
    Ok(())
}
