//! The session itself.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::block::CallId;
use crate::fold::{Entry, EntryKey, Position, apply_epoch, reconcile};
use crate::hash::{self, Hash};
use crate::journal::{Change, Epoch};
use crate::message::{Message, MessageId, Role};

/// An append-only log of messages plus a journal of epochs, and the view folded from them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Session {
    /// The session's id, where the recording has one.
    pub id: Option<Arc<str>>,
    /// Tool definitions as recorded JSON text; they are sent with every request and belong to no message.
    pub tools: Option<Arc<str>>,
    log: Vec<Arc<Message>>,
    positions: Vec<Position>,
    journal: Vec<Epoch>,
    view: Vec<Entry>,
    /// The ids that are taken, with how often each was asked for.
    ids: HashMap<MessageId, u32>,
    /// Unanswered calls, by id: the numbers of the log's messages that made them, oldest first.
    open_calls: HashMap<CallId, Vec<u32>>,
    /// The calling message behind which the log holds nothing but its own results so far.
    answering: Option<u32>,
    /// The hash of the log.
    log_hash: Hash,
    /// The hash of each epoch of the journal.
    epoch_hashes: Vec<Hash>,
}

/// Why an epoch cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UndoError {
    /// The journal has no such epoch.
    #[error("there is no compaction {epoch}: the journal holds {count}")]
    Unknown {
        /// The epoch asked for.
        epoch: u32,
        /// How many there are.
        count: usize,
    },
    /// It is undone already.
    #[error("compaction {0} is undone already")]
    AlreadyUndone(u32),
    /// A later epoch stands on it.
    #[error("compaction {later} covers what compaction {epoch} changed: undo {later} first")]
    Covered {
        /// The epoch asked for.
        epoch: u32,
        /// The one that stands on it.
        later: u32,
    },
}

impl Session {
    /// An empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message and returns its key. Amortised constant time.
    ///
    /// A message whose id is taken gets a suffix, so ids stay unique. A result that arrives after other messages have
    /// followed its call takes its place directly behind the call, which is where providers want it.
    pub fn push(&mut self, mut message: Message) -> EntryKey {
        let index = self.log.len() as u32;
        message.id = self.unique_id(message.id, index);
        let position = self.place(&message, index);
        if message.role != Role::Tool {
            self.answering = message.calls().next().map(|_| index);
        }
        for (_, call) in message.calls() {
            self.open_calls.entry(Arc::clone(&call.id)).or_default().push(index);
        }
        self.log_hash = hash::log(&self.log_hash, &message);
        let message = Arc::new(message);
        let key = EntryKey::Log(index);
        self.log.push(Arc::clone(&message));
        self.positions.push(position);
        let entry = Entry::new(key, position, message);
        let at = self.view.partition_point(|other| other.position < position);
        self.view.insert(at, entry); // at the end, but for a late result
        if position != Position::log(index) {
            reconcile(&mut self.view);
        }
        key
    }

    fn unique_id(&mut self, id: MessageId, index: u32) -> MessageId {
        let base = if id.as_str().is_empty() { MessageId::new(format!("m{index}")) } else { id };
        let mut unique = base.clone();
        while self.ids.contains_key(&unique) {
            // The count of an id that is taken is where the search for a free suffix goes on.
            let taken = self.ids.entry(base.clone()).or_insert(1);
            *taken += 1;
            unique = MessageId::new(format!("{base}#{taken}"));
        }
        self.ids.insert(unique.clone(), 1);
        unique
    }

    /// The position of a message that is about to become number `index` of the log.
    fn place(&mut self, message: &Message, index: u32) -> Position {
        let own = Position::log(index);
        if message.role != Role::Tool {
            return own;
        }
        let result = message.blocks.iter().find_map(|block| block.as_result());
        let call = result.and_then(|result| self.open_calls.get_mut(&result.call_id)).and_then(Vec::pop);
        match call {
            Some(call) if self.answering == Some(call) => own,
            // Directly behind its call, whatever has come between.
            Some(call) => {
                self.answering = None;
                Position::late_result(self.positions[call as usize], index)
            }
            None => {
                self.answering = None;
                own
            }
        }
    }

    /// Every message ever said, in the order of arrival.
    pub fn log(&self) -> &[Arc<Message>] {
        &self.log
    }

    /// Every epoch, undone ones included.
    pub fn journal(&self) -> &[Epoch] {
        &self.journal
    }

    /// The compacted view: what the model would see now.
    pub fn view(&self) -> &[Entry] {
        &self.view
    }

    /// The full view: every message of the log, no summary. Linear in the log.
    pub fn full_view(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = (0..self.log.len()).map(|index| self.log_entry(index)).collect();
        entries.sort_by_key(|entry| entry.position);
        entries
    }

    /// The same log without any epoch: its view is the full one.
    pub fn without_journal(&self) -> Self {
        let mut bare = self.clone();
        bare.journal.clear();
        bare.epoch_hashes.clear();
        bare.view = bare.full_view();
        bare
    }

    /// How many compactions are in force.
    pub fn cycle(&self) -> u32 {
        self.journal.iter().filter(|epoch| epoch.is_compaction()).count() as u32
    }

    /// Tokens that the newest compaction in force left, where it is known.
    pub fn newest_tokens_after(&self) -> Option<u32> {
        self.journal.iter().rev().find(|epoch| epoch.is_compaction())?.tokens_after
    }

    /// The number that the next committed epoch gets.
    pub fn next_epoch(&self) -> u32 {
        self.journal.len() as u32
    }

    /// A hash of all that a compaction depends on: every message of the log whole, every epoch of the journal with its
    /// changes and texts, which of them are undone, and the tool definitions; the order of all of these. Not the session's
    /// id. Two sessions of one hash have the same log, journal and view, whether they grew in memory or were read from a
    /// store. Costs the length of the tool definitions and the number of epochs.
    pub fn state_hash(&self) -> [u8; 32] {
        let undone = self.journal.iter().map(|epoch| epoch.undone);
        hash::state(&self.log_hash, self.tools.as_deref(), self.epoch_hashes.iter().zip(undone))
    }

    /// Whether a message of that id exists already.
    pub fn has_id(&self, id: &MessageId) -> bool {
        self.ids.contains_key(id)
    }

    /// How many messages of the log an entry stands for: 1 for a message of the log, all that it replaced for a summary,
    /// those behind earlier summaries included.
    pub fn covered(&self, key: EntryKey) -> u32 {
        let EntryKey::Synthetic { epoch, index } = key else { return 1 };
        let Some(epoch) = self.journal.get(epoch as usize) else { return 0 };
        let replaced = epoch.edits.iter().filter(|edit| edit.into == Some(index)).flat_map(|edit| &edit.changes);
        replaced
            .filter(|change| matches!(change, Change::Remove { .. }))
            .map(|change| if change.entry() == key { 0 } else { self.covered(change.entry()) })
            .sum()
    }

    /// How many times over an entry is a summary: 0 for a message of the log, 1 for a summary of such, one more than the
    /// highest that it replaced for a summary of summaries. Linear in what it stands for.
    pub fn summary_level(&self, key: EntryKey) -> u32 {
        let EntryKey::Synthetic { epoch, index } = key else { return 0 };
        let Some(epoch) = self.journal.get(epoch as usize) else { return 0 };
        let replaced = epoch.edits.iter().filter(|edit| edit.into == Some(index)).flat_map(|edit| &edit.changes);
        let below = replaced.map(Change::entry).filter(|entry| *entry != key).map(|entry| self.summary_level(entry));
        below.max().map_or(0, |highest| 1 + highest)
    }

    /// Appends `epoch` to the journal, numbers it and folds it into the view. Linear in the view.
    ///
    /// Nothing is checked here: the engine is the only author of epochs, and readers of recordings the only other.
    /// Synthetic ids are made unique.
    pub fn commit(&mut self, mut epoch: Epoch) -> u32 {
        epoch.id = self.next_epoch();
        epoch.log_length = self.log.len() as u32;
        for (index, synthetic) in epoch.synthetics.iter_mut().enumerate() {
            let wanted = synthetic.message.id.clone();
            let unique = self.unique_id(wanted.clone(), index as u32);
            if unique != wanted {
                Arc::make_mut(&mut synthetic.message).id = unique;
            }
        }
        apply_epoch(&mut self.view, &epoch);
        self.epoch_hashes.push(hash::epoch(&epoch));
        self.journal.push(epoch);
        self.journal.len() as u32 - 1
    }

    /// Takes an epoch out of the fold: the view is what it would be had that compaction never happened, messages that
    /// arrived since included.
    ///
    /// Refused when a later epoch in force touches what it changed or added. Linear in the log.
    pub fn undo(&mut self, epoch: u32) -> Result<(), UndoError> {
        let count = self.journal.len();
        let target = self.journal.get(epoch as usize).ok_or(UndoError::Unknown { epoch, count })?;
        if target.undone {
            return Err(UndoError::AlreadyUndone(epoch));
        }
        if let Some(later) = self.covering(target) {
            return Err(UndoError::Covered { epoch, later });
        }
        self.journal[epoch as usize].undone = true;
        self.refold();
        Ok(())
    }

    /// The first later epoch in force that touches what `target` changed or added.
    fn covering(&self, target: &Epoch) -> Option<u32> {
        let mut touched: HashSet<EntryKey> = target.changes().map(|change| change.entry()).collect();
        touched
            .extend((0..target.synthetics.len() as u32).map(|index| EntryKey::Synthetic { epoch: target.id, index }));
        // Thinking that left behind a change must not come back while a later epoch changes something in front of it.
        let stripped = target.changes().filter(|change| matches!(change, Change::Strip { .. }));
        let last_stripped = stripped.filter_map(|change| self.position(change.entry())).max();
        let stands_on = |change: &Change| {
            let entry = change.entry();
            touched.contains(&entry) || last_stripped.is_some_and(|last| self.position(entry) <= Some(last))
        };
        self.journal[target.id as usize + 1..]
            .iter()
            .filter(|later| !later.undone)
            .find(|later| later.changes().any(stands_on))
            .map(|later| later.id)
    }

    fn position(&self, key: EntryKey) -> Option<Position> {
        match key {
            EntryKey::Log(index) => self.positions.get(index as usize).copied(),
            EntryKey::Synthetic { epoch, index } => {
                Some(self.journal.get(epoch as usize)?.synthetics.get(index as usize)?.position)
            }
        }
    }

    fn log_entry(&self, index: usize) -> Entry {
        Entry::new(EntryKey::Log(index as u32), self.positions[index], Arc::clone(&self.log[index]))
    }

    /// Folds the log through the journal, each epoch at the length of the log at which it was committed.
    fn refold(&mut self) {
        let mut view: Vec<Entry> = Vec::new();
        let mut at = 0;
        for epoch in self.journal.iter().filter(|epoch| !epoch.undone) {
            let length = (epoch.log_length as usize).min(self.log.len());
            view.extend((at..length).map(|index| self.log_entry(index)));
            at = at.max(length);
            view.sort_by_key(|entry| entry.position);
            // As it was when the epoch was made: late results had taken the place of answers by then.
            reconcile(&mut view);
            apply_epoch(&mut view, epoch);
        }
        view.extend((at..self.log.len()).map(|index| self.log_entry(index)));
        view.sort_by_key(|entry| entry.position);
        reconcile(&mut view);
        self.view = view;
    }
}

/// What is stored of a session: the rest is folded from it.
#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<str>>,
    log: Vec<Arc<Message>>,
    #[serde(default)]
    journal: Vec<Epoch>,
}

impl From<Session> for Stored {
    fn from(session: Session) -> Self {
        Self { id: session.id, tools: session.tools, log: session.log, journal: session.journal }
    }
}

impl From<Stored> for Session {
    fn from(stored: Stored) -> Self {
        let mut session = Self { id: stored.id, tools: stored.tools, ..Self::default() };
        for message in stored.log {
            session.push(Arc::unwrap_or_clone(message));
        }
        session.journal = stored.journal;
        for epoch in &session.journal {
            session.epoch_hashes.push(hash::epoch(epoch));
            session.ids.extend(epoch.synthetics.iter().map(|synthetic| (synthetic.message.id.clone(), 1)));
        }
        session.refold();
        session
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
