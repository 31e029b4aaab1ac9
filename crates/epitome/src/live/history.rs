//! The compactions of a session, and what left with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_session::{Epoch, EpochOrigin, Origin, Session, SyntheticMessage, Trigger};
use serde::Serialize;

/// One compaction of a session's history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HistoryEntry {
    /// The compaction's number, to undo it by.
    pub epoch: u32,
    /// The author.
    pub origin: EpochOrigin,
    /// The trigger; `arrival` for a result that was cut before it was sent.
    pub trigger: Trigger,
    /// The number of messages that the session had.
    pub messages: u32,
    /// Tokens of the view before, where they are known.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tokens_before: Option<u32>,
    /// Tokens of the view after, where they are known.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tokens_after: Option<u32>,
    /// The number of edits by each strategy.
    pub edits: BTreeMap<Arc<str>, u32>,
    /// Handles of what left, to recall it by, in order.
    pub recall: Vec<Arc<str>>,
    /// The summaries that it wrote, the one first that is its summary.
    pub summaries: Vec<String>,
    /// Whether it was undone.
    pub undone: bool,
}

/// Every compaction, the oldest first, undone ones included. Linear in the journal.
pub fn history(session: &Session) -> Vec<HistoryEntry> {
    session.journal().iter().map(entry).collect()
}

fn entry(epoch: &Epoch) -> HistoryEntry {
    let mut edits: BTreeMap<Arc<str>, u32> = BTreeMap::new();
    let mut recall: Vec<Arc<str>> = Vec::new();
    for edit in &epoch.edits {
        *edits.entry(Arc::clone(&edit.strategy)).or_default() += 1;
        if let Some(handle) = edit.recall.as_ref().filter(|handle| !recall.contains(handle)) {
            recall.push(Arc::clone(handle));
        }
    }
    let first = epoch.summary(|_| true);
    let summaries = (0..).zip(&epoch.synthetics).filter(|(_, added)| added.message.origin == Origin::Summary);
    let mut summaries: Vec<(u32, &SyntheticMessage)> = summaries.collect();
    summaries.sort_by_key(|(number, _)| Some(*number) != first); // stable
    HistoryEntry {
        epoch: epoch.id,
        origin: epoch.origin,
        trigger: epoch.trigger,
        messages: epoch.log_length,
        tokens_before: epoch.tokens_before,
        tokens_after: epoch.tokens_after,
        edits,
        recall,
        summaries: summaries.into_iter().map(|(_, added)| added.message.plain_text()).collect(),
        undone: epoch.undone,
    }
}
