//! Asking somebody before a compaction is made.

use std::fmt::Debug;

use epitome_engine::{Check, Draft};
use epitome_strategy::BoxFuture;

/// Somebody who is asked before a compaction is made.
pub trait Confirm: Send + Sync + Debug {
    /// What is to become of this compaction? The draft shows everything that it would do; its summary is written, and paid
    /// for, already. The session waits for the answer.
    fn confirm<'a>(&'a self, draft: &'a Draft, check: &'a Check) -> BoxFuture<'a, Confirmation>;
}

/// The answer to whether a compaction may be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// It is made.
    Make,
    /// It is made with these summaries edited ([`Draft::edit_summary`]).
    MakeEdited(Box<Draft>),
    /// It is not made. Where there is no room left, the settings say what follows.
    Refuse,
}
