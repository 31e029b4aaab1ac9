//! Receipts: the outcome of every message, and every edit as the report shows it.

use std::collections::HashMap;

use epitome_session::{AppliedEdit, Change, EditKind, Entry, EntryKey, MessageId};
use epitome_strategy::Protection;

use crate::report::{EditReport, Outcome, ReasonReport, Receipt};
use crate::stages::REPAIR;
use crate::working::{Layout, WorkingView};

/// Returns one receipt for every message of the view before; those of a text that left again have left, too. Linear in
/// the view and the edits.
pub(crate) fn messages(start: &WorkingView, layout: &Layout, edits: &[AppliedEdit], epoch: u32) -> Vec<Receipt> {
    let mut outcomes: HashMap<EntryKey, Outcome> = HashMap::new();
    for edit in edits {
        for change in &edit.changes {
            let outcome = match (change, edit.kind) {
                (Change::Remove { .. }, EditKind::Summarize) => Outcome::Summarized,
                (Change::Remove { .. }, EditKind::Drop | EditKind::Excerpt | EditKind::Trim) => Outcome::Dropped,
                (Change::Excerpt { .. } | Change::Strip { .. }, _) => Outcome::Excerpted,
                (Change::Trim { .. }, _) => Outcome::Trimmed,
            };
            let known = outcomes.entry(change.entry()).or_insert(outcome);
            if weight(outcome) > weight(*known) {
                *known = outcome;
            }
        }
    }
    let removed_by: HashMap<EntryKey, usize> = edits
        .iter()
        .enumerate()
        .flat_map(|(number, edit)| edit.changes.iter().map(move |change| (change, number)))
        .filter(|(change, _)| matches!(change, Change::Remove { .. }))
        .map(|(change, number)| (change.entry(), number))
        .collect();
    let mut receipts = Vec::with_capacity(start.entries().len());
    for (unit, protection) in layout.units.iter().zip(&layout.protections) {
        for entry in &start.entries()[unit.entries.clone()] {
            let untouched = match protection {
                Protection::Free
                | Protection::NewestStep
                | Protection::TextsOnly
                | Protection::WholeOnly
                | Protection::Fixed => Outcome::Kept,
                Protection::System
                | Protection::OriginalTask
                | Protection::NewestUser
                | Protection::Pinned
                | Protection::ProtectedTool
                | Protection::Instructions
                | Protection::RecentRound
                | Protection::RecentMessage
                | Protection::Open => Outcome::Pinned,
            };
            let outcome = match outcomes.get(&entry.key).copied() {
                Some(Outcome::Summarized) => outcome_of_replaced(edits, &removed_by, entry.key, epoch),
                outcome => outcome.unwrap_or(untouched),
            };
            receipts.push(Receipt { id: entry.message.id.clone(), role: entry.message.role, outcome });
        }
    }
    receipts
}

/// Returns the outcome of a message that was replaced: that of the last edit on the way from text to text.
fn outcome_of_replaced(
    edits: &[AppliedEdit],
    removed_by: &HashMap<EntryKey, usize>,
    mut key: EntryKey,
    epoch: u32,
) -> Outcome {
    let mut outcome = Outcome::Summarized;
    while let Some(edit) = removed_by.get(&key).map(|number| &edits[*number]) {
        outcome = if edit.kind == EditKind::Summarize { Outcome::Summarized } else { Outcome::Dropped };
        let Some(index) = edit.into else { break };
        key = EntryKey::Synthetic { epoch, index };
    }
    outcome
}

/// Returns the rank of an outcome; the highest of a message counts: one that was excerpted and left later has left.
fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Kept | Outcome::Pinned => 0,
        Outcome::Trimmed => 1,
        Outcome::Excerpted => 2,
        Outcome::Summarized | Outcome::Dropped => 3,
    }
}

/// Returns the edits with the ids of their messages. Linear.
pub(crate) fn edits(start: &WorkingView, working: &WorkingView, epoch: u32) -> Vec<EditReport> {
    let id = |entry: &Entry| (entry.key, entry.message.id.clone());
    let mut ids: HashMap<EntryKey, MessageId> = start.entries().iter().map(id).collect();
    ids.extend(
        working.synthetics.iter().enumerate().map(|(index, synthetic)| {
            (EntryKey::Synthetic { epoch, index: index as u32 }, synthetic.message.id.clone())
        }),
    );
    working
        .edits
        .iter()
        .map(|edit| EditReport {
            edit: edit.kind,
            strategy: edit.strategy.clone(),
            messages: edit.changes.iter().filter_map(|change| ids.get(&change.entry()).cloned()).collect(),
            // What the repair takes out could not have been sent.
            tokens_saved: if &*edit.strategy == REPAIR { 0 } else { edit.tokens_saved },
            reason: ReasonReport {
                code: edit.reason.code.clone(),
                detail: edit.reason.detail.clone(),
                score: edit.reason.score,
            },
            recall: edit.recall.clone(),
        })
        .collect()
}
