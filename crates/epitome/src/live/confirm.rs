//! Confirmation of a compaction before it is made.

use std::fmt::Debug;

use epitome_engine::{Check, Draft};
use epitome_strategy::async_trait;

/// Confirms a compaction before it is made.
#[async_trait]
pub trait Confirm: Send + Sync + Debug {
    /// Decides whether this compaction is made. The draft shows every change; its summary is already written, and paid
    /// for. The session waits for the answer.
    async fn confirm(&self, draft: &Draft, check: &Check) -> Confirmation;
}

/// The answer to whether a compaction may be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// It is made.
    Make,
    /// It is made with these summaries edited ([`Draft::edit_summary`]).
    MakeEdited(Box<Draft>),
    /// The compaction is not made. Where there is no room left, the settings say what follows.
    Refuse,
}
