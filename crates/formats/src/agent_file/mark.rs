//! The marks that this crate adds to the records that it writes into an agent's file, so that it reads its own
//! compactions back exactly: the journal's new epochs with the compaction record, and on each re-appended message the
//! id of its original.

use std::sync::Arc;

use epitome_session::{Change, Entry, EntryKey, Epoch, Message, Position, Session, SyntheticMessage, Trigger};
use serde::{Deserialize, Serialize};

use crate::error::Warning;
use crate::json::Object;

/// The name of the added field.
pub(crate) const FIELD: &str = "epitome";

/// The value of the added field of a compaction record.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The number of messages in the log: entries are named by their number in it.
    log: u32,
    /// A hash that distinguishes that log from others of its length. Marks of early versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beginning: Option<String>,
    /// Epochs that were undone since the file was read.
    undone: Vec<u32>,
    /// Epochs committed since the file was read.
    epochs: Vec<Epoch>,
}

impl Mark {
    /// The mark for the changes between two states of a session. Where the journal of `after` does not go on from that
    /// of `before`, its epochs take the place of those that were there.
    pub(crate) fn between(before: &Session, after: &Session) -> Self {
        let (old, new) = (before.journal(), after.journal());
        let same = |(old, new): (&Epoch, &Epoch)| Epoch { undone: new.undone, ..old.clone() } == *new;
        let log = after.log().len() as u32;
        let beginning = Some(beginning(after.log()));
        if new.len() >= old.len() && old.iter().zip(new).all(same) {
            let newly_undone = |(old, new): (&Epoch, &Epoch)| (new.undone && !old.undone).then_some(new.id);
            let undone = old.iter().zip(new).filter_map(newly_undone).collect();
            return Self { log, beginning, undone, epochs: new[old.len()..].to_vec() };
        }
        let undone = old.iter().filter(|epoch| !epoch.undone).map(|epoch| epoch.id).collect();
        let epochs = new.iter().map(|epoch| renumber_epoch(epoch, old.len() as u32)).collect();
        Self { log, beginning, undone, epochs }
    }

    /// The mark in a record, if it holds one.
    pub(crate) fn from_record(record: &Object<'_>) -> Option<Self> {
        serde_json::from_str(record.get(FIELD)?).ok()
    }

    /// Whether this log is the one that the mark was made from, or continues it.
    fn is_of(&self, log: &[Arc<Message>]) -> bool {
        match log.get(..self.log as usize) {
            Some(same) if same.len() == log.len() => true,
            Some(same) => self.beginning.as_ref() == Some(&beginning(same)),
            None => false,
        }
    }

    /// The mark as JSON.
    pub(crate) fn to_json(&self) -> String {
        // Serialising plain data into memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Brings `session` to the state that was written; `false`, and nothing done, where it is not the session that was
    /// written (another version read it into other messages). What was said since follows: the agent may have gone on
    /// while the compaction was made.
    pub(crate) fn apply(&self, session: &mut Session) -> bool {
        let next = session.next_epoch();
        let fits = self.is_of(session.log())
            && self.epochs.iter().zip(next..).all(|(epoch, id)| epoch.id == id)
            && self.undone.iter().all(|id| *id < next);
        if !fits {
            return false;
        }
        for id in self.undone.iter().rev() {
            if session.undo(*id).is_err() {
                return false;
            }
        }
        for epoch in &self.epochs {
            let id = session.commit(Epoch { undone: false, ..epoch.clone() });
            if epoch.undone && session.undo(id).is_err() {
                return false;
            }
        }
        true
    }
}

/// The warning for the record of a line whose mark does not fit the session.
pub(crate) fn foreign_mark_warning(line: usize) -> Warning {
    let message = "the compaction recorded here is of another version: its messages are taken as written";
    Warning { line: Some(line), message: message.to_owned() }
}

/// Tells a log from others of its length: a hash of who said how much under which id.
fn beginning(log: &[Arc<Message>]) -> String {
    let mut hasher = blake3::Hasher::new();
    for message in log {
        let lengths = message.blocks.iter().map(|block| block.excerptable().map_or(0, |text| text.len()));
        let line = format!("{} {} {:?}\n", message.id, message.role.as_str(), lengths.collect::<Vec<_>>());
        hasher.update(line.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// `epoch` with numbers that start behind `offset` others.
fn renumber_epoch(epoch: &Epoch, offset: u32) -> Epoch {
    let mut epoch = Epoch { id: epoch.id + offset, ..epoch.clone() };
    let changed = epoch.edits.iter_mut().flat_map(|edit| &mut edit.changes).map(|change| {
        let (Change::Remove { entry }
        | Change::Excerpt { entry, .. }
        | Change::Trim { entry, .. }
        | Change::Strip { entry, .. }) = change;
        entry
    });
    for entry in changed.chain(&mut epoch.kept).chain(&mut epoch.released) {
        if let EntryKey::Synthetic { epoch, .. } = entry {
            *epoch += offset;
        }
    }
    epoch
}

/// Replaces the whole view by `messages`: how a compaction is read whose mark does not fit.
pub(crate) fn replace_view(session: &mut Session, trigger: Trigger, messages: Vec<Message>) {
    let (epoch, end) = (session.next_epoch(), session.log().len() as u32);
    let removed: Vec<EntryKey> = session.view().iter().map(|entry| entry.key).collect();
    let synthetics = messages.into_iter().zip(0..).map(|(message, sequence)| SyntheticMessage {
        position: Position::at_end(end, epoch, sequence),
        message: Arc::new(message),
    });
    let synthetics = synthetics.collect();
    session.commit(Epoch::recorded(trigger, removed, synthetics));
}

/// The position of a summary that replaces everything of the view but `kept`: in front of the first of them, else at
/// the end.
pub(crate) fn summary_position(session: &Session, kept: impl Fn(&Entry) -> bool, sequence: u32) -> Position {
    let epoch = session.next_epoch();
    match session.view().iter().find(|entry| kept(entry)) {
        Some(first) => Position::before(first.position, epoch, sequence),
        None => Position::at_end(session.log().len() as u32, epoch, sequence),
    }
}
