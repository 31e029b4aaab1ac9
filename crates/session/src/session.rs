//! The session itself.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::block::CallId;
use crate::fold::{Entry, EntryKey, Position, apply_epoch};
use crate::journal::Epoch;
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
        for (_, call) in message.calls() {
            self.open_calls.entry(Arc::clone(&call.id)).or_default().push(index);
        }
        let message = Arc::new(message);
        let key = EntryKey::Log(index);
        self.log.push(Arc::clone(&message));
        self.positions.push(position);
        let entry = Entry::new(key, position, message);
        let at = self.view.partition_point(|other| other.position < position);
        self.view.insert(at, entry); // at the end, but for a late result
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
        let Some(result) = message.blocks.iter().find_map(|block| block.as_result()) else { return own };
        let Some(calls) = self.open_calls.get_mut(&result.call_id) else { return own };
        let Some(call) = calls.pop() else { return own };
        let directly_behind = self.log[call as usize + 1..].iter().all(|between| between.role == Role::Tool);
        if directly_behind { own } else { Position::late_result(self.positions[call as usize], index) }
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
        bare.view = bare.full_view();
        bare
    }

    /// How many compactions are in force.
    pub fn cycle(&self) -> u32 {
        self.journal.iter().filter(|epoch| !epoch.undone).count() as u32
    }

    /// The number that the next committed epoch gets.
    pub fn next_epoch(&self) -> u32 {
        self.journal.len() as u32
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
        self.journal[target.id as usize + 1..]
            .iter()
            .filter(|later| !later.undone)
            .find(|later| later.changes().any(|change| touched.contains(&change.entry())))
            .map(|later| later.id)
    }

    fn log_entry(&self, index: usize) -> Entry {
        Entry::new(EntryKey::Log(index as u32), self.positions[index], Arc::clone(&self.log[index]))
    }

    /// Folds the log through the journal, each epoch at the length of the log at which it was committed.
    fn refold(&mut self) {
        let mut view: Vec<Entry> = Vec::new();
        let mut at = 0;
        for epoch in self.journal.iter().filter(|epoch| !epoch.undone) {
            view.extend((at..epoch.log_length as usize).map(|index| self.log_entry(index)));
            at = at.max(epoch.log_length as usize);
            view.sort_by_key(|entry| entry.position);
            apply_epoch(&mut view, epoch);
        }
        view.extend((at..self.log.len()).map(|index| self.log_entry(index)));
        view.sort_by_key(|entry| entry.position);
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
            session.ids.extend(epoch.synthetics.iter().map(|synthetic| (synthetic.message.id.clone(), 1)));
        }
        session.refold();
        session
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
