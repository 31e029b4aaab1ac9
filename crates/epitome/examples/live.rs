//! A growing session in a window that is far too small for it, with the events that its runtime receives.
//!
//! ```sh
//! cargo run -p epitome --example live [SESSION]
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use epitome::engine::block_on;
use epitome::live::{Event, LiveSession};
use epitome::session::{Message, Role, Trigger};

/// The window, in tokens.
const WINDOW: u32 = 12_000;

fn main() -> Result<(), Box<dyn Error>> {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.jsonl").to_owned();
    let bytes = std::fs::read(std::env::args().nth(1).unwrap_or(shipped))?;
    let recorded = epitome::formats::read(bytes, Default::default())?.sessions.swap_remove(0).session;

    let mut config = epitome::Config::default();
    config.set("budget.window", &WINDOW.into())?;
    let mut live = LiveSession::new(&config.build(&epitome::registry())?);
    live.subscribe(Arc::new(|event| match event {
        Event::CompactionStart { reason, message_count } => {
            println!("  compaction of {message_count} messages, by {reason:?}");
        }
        Event::CompactionStep { strategy, tokens_before, tokens_after, edits } => {
            println!("    {strategy}: {edits} edits, {tokens_before} → {tokens_after} tokens");
        }
        Event::ArrivalCut { tokens_before, tokens_after, .. } => {
            println!("  a huge result was cut on arrival: {tokens_before} → {tokens_after} tokens");
        }
        Event::CompactionError { message, .. } => println!("  failed: {message}"),
        _ => {}
    }));
    let mut turns = 0;
    for message in recorded.log() {
        if message.role == Role::Assistant {
            // Here the runtime would call the model.
            block_on(live.maintain())?;
            turns += 1;
            let context = live.context();
            println!("turn {turns}: {} of {} tokens are sent", context.used_tokens, context.max_tokens);
        }
        live.push(Message::clone(message))?;
    }
    for epoch in live.history() {
        let (before, after) = (epoch.tokens_before.unwrap_or(0), epoch.tokens_after.unwrap_or(0));
        let what = match epoch.trigger {
            Trigger::Arrival => "cut on arrival",
            Trigger::Clearing => "old results cleared",
            Trigger::TakenBack => "taken back",
            Trigger::Kept => "kept by hand",
            _ => "compaction",
        };
        println!("{what} {}: {before} → {after} tokens, {} handles to recall", epoch.epoch, epoch.recall.len());
    }
    Ok(())
}
