//! The fold: entries of the view, and how an epoch changes them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::{Arguments, Block, CallId, Content, ToolCall};
use crate::excerpt::Excerpt;
use crate::journal::{Change, Epoch};
use crate::message::{Message, Origin, Role};

/// Identifies an entry of the view for as long as the session lives: a message of the log, or a message that an epoch
/// added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKey {
    /// The message of the log with this number.
    Log(u32),
    /// A message that an epoch added.
    Synthetic {
        /// The epoch.
        epoch: u32,
        /// Its number among that epoch's additions.
        index: u32,
    },
}

impl EntryKey {
    /// Returns the number of the message in the log, from 0; `None` for one that an epoch added.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Log(number) => Some(number),
            Self::Synthetic { .. } => None,
        }
    }
}

/// The place of an entry in the view. A place is given once, and places compare in the order of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The log's message in front of which it is; its own number for a message of the log.
    index: u32,
    rank: Rank,
    epoch: u32,
    sequence: u32,
}

/// The order at one place of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rank {
    /// A result that arrived late and is placed with its call.
    LateResult,
    /// The answer to a call whose result was never recorded.
    Answer,
    /// A summary or notice.
    Summary,
    /// The log's own message.
    Log,
}

impl Position {
    /// Returns the place of the log's message `index`.
    pub fn log(index: u32) -> Self {
        Self { index, rank: Rank::Log, epoch: 0, sequence: 0 }
    }

    /// Returns the place directly behind the calling message at `call`, for the result that arrived as message `index`
    /// of the log.
    pub fn late_result(call: Position, index: u32) -> Self {
        Self { index: call.index + 1, rank: Rank::LateResult, epoch: 0, sequence: index }
    }

    /// Returns the place directly behind the calling message at `call`, for an answer that `epoch` adds.
    pub fn answer(call: Position, epoch: u32, sequence: u32) -> Self {
        Self { index: call.index + 1, rank: Rank::Answer, epoch, sequence }
    }

    /// Returns the place in front of the entry at `first`, for a summary that `epoch` adds.
    pub fn before(first: Position, epoch: u32, sequence: u32) -> Self {
        Self { index: first.index, rank: Rank::Summary, epoch, sequence }
    }

    /// Returns the place of `first`, for a summary that `epoch` adds and that replaces it. The place of an earlier
    /// summary is kept, because another summary may follow it at the same message of the log.
    pub fn in_place_of(first: Position, epoch: u32, sequence: u32) -> Self {
        if first.rank == Rank::Summary { first } else { Self::before(first, epoch, sequence) }
    }

    /// Returns the place behind the log's first `length` messages, for a summary that `epoch` adds.
    pub fn at_end(length: u32, epoch: u32, sequence: u32) -> Self {
        Self { index: length, rank: Rank::Summary, epoch, sequence }
    }

    /// Returns all fields of the place.
    pub(crate) fn numbers(&self) -> [u32; 4] {
        [self.index, self.rank as u32, self.epoch, self.sequence]
    }
}

/// One message as the model sees it now.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its identity.
    pub key: EntryKey,
    /// Its place.
    pub position: Position,
    /// The message as the model sees it: excerpts rendered, arguments trimmed.
    pub message: Arc<Message>,
    /// The message as it was recorded; the same allocation as [`message`](Self::message) while it is unchanged.
    pub original: Arc<Message>,
    /// The excerpts in force, in the order of their blocks.
    pub excerpts: Vec<(u32, Excerpt)>,
    /// Whether a person keeps it: no compaction changes it.
    pub is_kept: bool,
}

impl Entry {
    /// Returns an entry that shows `message` unchanged.
    pub fn new(key: EntryKey, position: Position, message: Arc<Message>) -> Self {
        Self { key, position, original: Arc::clone(&message), message, excerpts: Vec::new(), is_kept: false }
    }

    /// Whether an edit changed what the model sees of it.
    pub fn is_edited(&self) -> bool {
        !Arc::ptr_eq(&self.message, &self.original)
    }

    /// Whether it is where it arrived, as it was recorded.
    pub fn is_in_place(&self) -> bool {
        !self.is_edited() && matches!(self.key, EntryKey::Log(index) if self.position == Position::log(index))
    }

    /// Returns the excerpt in force on a block. Logarithmic.
    pub fn excerpt(&self, block: u32) -> Option<&Excerpt> {
        let at = self.excerpts.binary_search_by_key(&block, |(index, _)| *index).ok()?;
        Some(&self.excerpts[at].1)
    }

    /// Returns the call id of the entry's result, where it is one.
    fn result_id(&self) -> Option<CallId> {
        self.message.blocks.iter().find_map(|block| Some(Arc::clone(&block.as_result()?.call_id)))
    }

    /// Shows a late result whose call is no longer shown as a message of the user's side, in the place where it
    /// arrived.
    fn show_as_user_message(&mut self) {
        if self.position.rank != Rank::LateResult {
            return;
        }
        let text_block = self.message.blocks.iter().find_map(|block| {
            let text = Arc::clone(&block.as_result()?.text);
            let Block { typed, instructions, .. } = block.clone();
            Some(Block { typed, instructions, ..Block::text(text) })
        });
        let shown = Arc::make_mut(&mut self.message);
        (shown.role, shown.origin) = (Role::User, Origin::ToolOutput);
        shown.blocks = text_block.into_iter().collect();
        self.position = Position::log(self.position.sequence);
    }

    /// Applies one change to the entry. A change that removes the entry, names another one, or names a block that does
    /// not fit is skipped: the engine checked it when it was made.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Remove { .. } => {}
            Change::Excerpt { block, excerpt, .. } => {
                let original = self.original.blocks.get(*block as usize);
                let text = original.and_then(Block::excerptable).map(Arc::clone);
                // The block as it is shown: a result whose call has left is shown as text.
                let typed = original.and_then(|original| original.typed.clone());
                let whole = self.message.blocks.get(*block as usize).map(|shown| match text {
                    Some(text) => Block { typed, ..shown.with_text(text) },
                    None => shown.clone(),
                });
                let Some(shown) = whole.and_then(|whole| whole.excerpted(excerpt)) else { return };
                self.replace_block(*block, shown);
                match self.excerpts.binary_search_by_key(block, |(index, _)| *index) {
                    Ok(at) => self.excerpts[at].1 = excerpt.clone(),
                    Err(at) => self.excerpts.insert(at, (*block, excerpt.clone())),
                }
            }
            Change::Trim { block, arguments, .. } => {
                let Some(call) = self.message.blocks.get(*block as usize).and_then(Block::as_call) else { return };
                let arguments = match call.arguments {
                    Arguments::Json(_) => Arguments::Json(Arc::clone(arguments)),
                    Arguments::Text(_) => Arguments::Text(Arc::clone(arguments)),
                };
                let shown = Content::ToolCall(ToolCall { arguments, ..call.clone() });
                self.replace_block(*block, Block::new(shown));
            }
            Change::Strip { block, mark, .. } => {
                let shown = match mark {
                    Some(mark) => Block { typed: Some(Vec::new()), ..Block::text(Arc::clone(mark)) },
                    None => Block::new(Content::Gone),
                };
                if (*block as usize) < self.message.blocks.len() {
                    self.replace_block(*block, shown);
                }
            }
        }
    }

    fn replace_block(&mut self, block: u32, shown: Block) {
        Arc::make_mut(&mut self.message).blocks[block as usize] = shown;
    }
}

/// Applies late results: the engine's answer in place of a result leaves when the result has come, and a result whose
/// calling message has left the view becomes a message of the user's side. Linear in the view.
pub(crate) fn reconcile(view: &mut Vec<Entry>) {
    // An answer whose call has left since must leave as well.
    if !view.iter().any(|entry| matches!(entry.position.rank, Rank::LateResult | Rank::Answer)) {
        return;
    }
    let mut superfluous = HashSet::new();
    let mut at = 0;
    while at < view.len() {
        let mut open: HashMap<CallId, usize> = HashMap::new();
        for (_, call) in view[at].message.calls() {
            *open.entry(Arc::clone(&call.id)).or_default() += 1;
        }
        let start = if view[at].message.role == Role::Tool { at } else { at + 1 };
        let end = start + view[start..].iter().take_while(|entry| entry.message.role == Role::Tool).count();
        // Recorded results first: an answer only covers what none of them answers.
        for answers in [false, true] {
            for entry in view[start..end].iter_mut().filter(|entry| (entry.message.origin == Origin::Answer) == answers)
            {
                let open = entry.result_id().and_then(|id| open.get_mut(&id)).filter(|open| **open > 0);
                match open {
                    Some(open) => *open -= 1,
                    None if answers => {
                        superfluous.insert(entry.key);
                    }
                    None => entry.show_as_user_message(),
                }
            }
        }
        at = end;
    }
    view.retain(|entry| !superfluous.contains(&entry.key));
    view.sort_by_key(|entry| entry.position);
}

/// Applies `epoch` to a view. Linear in the view and the epoch.
///
/// Its additions come first, because an epoch may change or remove its own additions.
pub(crate) fn apply_epoch(view: &mut Vec<Entry>, epoch: &Epoch) {
    if !epoch.synthetics.is_empty() {
        for (index, synthetic) in epoch.synthetics.iter().enumerate() {
            let key = EntryKey::Synthetic { epoch: epoch.id, index: index as u32 };
            view.push(Entry::new(key, synthetic.position, Arc::clone(&synthetic.message)));
        }
        view.sort_by_key(|entry| entry.position); // a merge of two sorted runs: linear
    }
    let mut changes: HashMap<EntryKey, Vec<&Change>> = HashMap::new();
    for change in epoch.changes() {
        changes.entry(change.entry()).or_default().push(change);
    }
    view.retain_mut(|entry| {
        let Some(changes) = changes.get(&entry.key) else { return true };
        if changes.iter().any(|change| matches!(change, Change::Remove { .. })) {
            return false;
        }
        for change in changes {
            entry.apply(change);
        }
        true
    });
    if epoch.kept.is_empty() && epoch.released.is_empty() {
        return;
    }
    let [kept, released] = [&epoch.kept, &epoch.released].map(|keys| keys.iter().collect::<HashSet<_>>());
    for entry in view {
        entry.is_kept = kept.contains(&entry.key) || entry.is_kept && !released.contains(&entry.key);
    }
}
