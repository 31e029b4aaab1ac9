//! What fills a context, in the few figures of a status line or of an answer to a model.

use epitome_engine::{Budget, Engine, Ledger};
use epitome_session::Session;
use epitome_strategy::Tokens;

use super::contents::counts;
use super::fullness::Fullness;
use super::parts::{Part, parts};
use super::removed::Removed;

/// What fills a context, how full it is, and what has left it.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextStatus {
    /// How full it is.
    pub fullness: Fullness,
    /// Tokens of the messages by the counter: those of the parts.
    pub counted_tokens: Tokens,
    /// Tokens from which on a compaction is suggested.
    pub soft_tokens: Tokens,
    /// The parts of the messages, the largest first.
    pub parts: Vec<Part>,
    /// What has left.
    pub removed: Removed,
}

impl ContextStatus {
    /// The status of a session whose context `engine` counts and `budget` bounds; `fullness` is given what has
    /// counted them. Linear in the log: what left is counted too.
    pub fn measure(
        session: &Session,
        engine: &Engine,
        budget: &Budget,
        fullness: impl FnOnce(&Ledger) -> Fullness,
    ) -> Self {
        let ledger = engine.ledger(session);
        let counter = &**ledger.counter();
        let fullness = fullness(&ledger);
        Self {
            soft_tokens: budget.soft.tokens(fullness.check.usable_tokens),
            fullness,
            counted_tokens: ledger.total(),
            parts: parts(session, &counts(session, &ledger), counter),
            removed: Removed::measure(session, counter),
        }
    }
}
