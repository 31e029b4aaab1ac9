//! The statements that store the changes of a session.

use std::collections::{HashMap, HashSet};

use epitome_session::{Change, EntryKey, Epoch, Message, MessageId, Origin, Session};

use super::statement::{Statement, Value, json};
use crate::archive::Locator;
use crate::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::steps::{Items, SessionChange, steps};
use crate::tenant::Tenant;

/// Gathers the statements of one change, or of several that are made together.
#[derive(Debug)]
pub(super) struct Writes<'a> {
    tenant: &'a Tenant,
    id: &'a str,
    now: i64,
    /// The sequence of the next change: the version of the session before it.
    sequence: u64,
    pub(super) statements: Vec<Statement>,
}

impl<'a> Writes<'a> {
    pub(super) fn new(tenant: &'a Tenant, id: &'a str, version: u64, now: i64) -> Self {
        Self { tenant, id, now, sequence: version, statements: Vec::new() }
    }

    /// The version of the session when the changes are made.
    pub(super) fn version(&self) -> u64 {
        self.sequence
    }

    /// The next change. A host may expect any version, also the highest.
    fn step(&mut self) {
        self.sequence = self.sequence.saturating_add(1);
    }

    fn statement(&self, sql: &'static str) -> Statement {
        Statement::for_row(sql, self.tenant, self.id)
    }

    /// The guard in front of all changes: raises the session's version by that many changes, if it is the expected one and
    /// the stored session is as long as the session was before.
    pub(super) fn advance(&mut self, changes: u64, messages: u32, epochs: u32, before: &Checkpoint) {
        let guard = self.statement(
            "UPDATE sessions SET version = version + ?3, messages = messages + ?4, epochs = epochs + ?5, \
             updated_at = ?6 WHERE tenant = ?1 AND id = ?2 AND version = ?7 AND messages = ?8 AND epochs = ?9",
        );
        let guard = guard.with(changes).with(messages).with(epochs).with(self.now).with(self.sequence);
        self.statements.push(guard.with(before.messages as u64).with(before.undone.len() as u64).expect_one());
    }

    /// The messages, epochs and undos that the session has gained since `before`, each epoch with its archived items.
    pub(super) fn changes(
        &mut self,
        session: &Session,
        items: HashMap<u32, Items<'_>>,
        before: &Checkpoint,
    ) -> Result<(), StoreError> {
        let mut locator = None;
        let mut number = before.messages as u64;
        for step in steps(session, items, before) {
            match step {
                SessionChange::Message(message) => {
                    self.message(message, number)?;
                    number += 1;
                }
                SessionChange::Compaction(epoch, items) => {
                    self.compaction(locator.get_or_insert_with(|| Locator::new(session)), &epoch, &items)?;
                }
                SessionChange::Undo(epoch) => self.undo(epoch),
            }
        }
        self.answers(session);
        Ok(())
    }

    /// A message that was pushed, by its number in the log.
    fn message(&mut self, message: &Message, number: u64) -> Result<(), StoreError> {
        let insert = self
            .statement(
                "INSERT INTO messages (tenant, session, message, sequence, number, role, origin, is_summary, \
                 stored_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )
            .with(&message.id)
            .with(self.sequence)
            .with(number);
        let insert = with_message(insert, message, self.now)?;
        self.statements.push(insert);
        self.step();
        Ok(())
    }

    /// An epoch that was committed, with its archived items. Linear in its changes and its items.
    fn compaction(&mut self, locator: &mut Locator<'_>, epoch: &Epoch, items: &Items<'_>) -> Result<(), StoreError> {
        let insert = self
            .statement(
                "INSERT INTO epochs (tenant, session, epoch, sequence, items, origin, started_by, log_length, \
                 tokens_before, tokens_after, committed_at, body) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )
            .with(epoch.id)
            .with(self.sequence)
            .with(items.len() as u64)
            .with(word(&epoch.origin)?)
            .with(word(&epoch.trigger)?)
            .with(epoch.log_length)
            .with(epoch.tokens_before)
            .with(epoch.tokens_after)
            .with(self.now)
            .with(json("a compaction", epoch)?);
        self.statements.push(insert);
        for (place, (handle, item)) in items.iter().enumerate() {
            let insert = self.statement(
                "INSERT INTO archive (tenant, session, handle, epoch, place, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            );
            let insert = insert.with(&***handle).with(epoch.id).with(place as u64);
            self.statements.push(insert.with(json("an archived item", &locator.stored(handle, item))?));
        }
        for (index, synthetic) in epoch.synthetics.iter().enumerate() {
            let insert = self
                .statement(
                    "INSERT INTO messages (tenant, session, message, sequence, added_epoch, added_index, role, origin, \
                     is_summary, stored_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                )
                .with(&synthetic.message.id)
                .with(self.sequence)
                .with(epoch.id)
                .with(index as u64);
            let insert = with_message(insert, &synthetic.message, self.now)?;
            self.statements.push(insert);
        }
        self.removals(epoch);
        self.step();
        Ok(())
    }

    /// Marks the messages that left the view whole: neighbours with one statement.
    fn removals(&mut self, epoch: &Epoch) {
        for edit in &epoch.edits {
            let into = edit.into.and_then(|index| Some(&epoch.synthetics.get(index as usize)?.message.id));
            let mut run: Option<(u32, u32)> = None;
            let removed = edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. }));
            for key in removed.map(Change::entry) {
                match (key, &mut run) {
                    (EntryKey::Log(index), Some((_, end))) if *end == index => *end += 1,
                    (EntryKey::Log(index), _) => {
                        let finished = run.replace((index, index + 1));
                        self.log_removal(finished, epoch.id, into);
                    }
                    (EntryKey::Synthetic { epoch: added, index }, _) => {
                        let update = self.statement(
                            "UPDATE messages SET compacted_at = ?3, compacted_epoch = ?4, compacted_into = ?5 \
                             WHERE tenant = ?1 AND session = ?2 AND added_epoch = ?6 AND added_index = ?7",
                        );
                        let update = update.with(self.now).with(epoch.id).with(into).with(added).with(index);
                        self.statements.push(update);
                    }
                }
            }
            self.log_removal(run, epoch.id, into);
        }
    }

    fn log_removal(&mut self, run: Option<(u32, u32)>, epoch: u32, into: Option<&MessageId>) {
        let Some((from, to)) = run else { return };
        let update = self.statement(
            "UPDATE messages SET compacted_at = ?3, compacted_epoch = ?4, compacted_into = ?5 \
             WHERE tenant = ?1 AND session = ?2 AND number >= ?6 AND number < ?7",
        );
        self.statements.push(update.with(self.now).with(epoch).with(into).with(from).with(to));
    }

    /// Marks the engine's answers that are not in the view of `session` any more, because a result has come for the call or the
    /// call has left, and takes the mark from those that are in it again: no epoch says so. Linear in the journal; in the view
    /// where there are such answers.
    fn answers(&mut self, session: &Session) {
        let in_force = session.journal().iter().filter(|epoch| !epoch.undone);
        let answers =
            in_force.flat_map(|epoch| epoch.synthetics.iter().zip(0..).map(|(added, index)| (epoch.id, index, added)));
        let answers: Vec<(u32, u32)> = answers
            .filter(|(_, _, added)| added.message.origin == Origin::Answer)
            .map(|(epoch, index, _)| (epoch, index))
            .collect();
        if answers.is_empty() {
            return;
        }
        let shown: HashSet<EntryKey> = session.view().iter().map(|entry| entry.key).collect();
        for (epoch, index) in answers {
            let is_shown = shown.contains(&EntryKey::Synthetic { epoch, index });
            let update = self.statement(if is_shown {
                "UPDATE messages SET compacted_at = NULL WHERE tenant = ?1 AND session = ?2 AND added_epoch = ?3 \
                 AND added_index = ?4 AND compacted_epoch IS NULL"
            } else {
                "UPDATE messages SET compacted_at = ?5 WHERE tenant = ?1 AND session = ?2 AND added_epoch = ?3 \
                 AND added_index = ?4 AND compacted_epoch IS NULL AND compacted_at IS NULL"
            });
            let update = update.with(epoch).with(index);
            self.statements.push(if is_shown { update } else { update.with(self.now) });
        }
    }

    /// Other tool definitions.
    pub(super) fn tools(&mut self, tools: Option<&str>) {
        let update = self.statement("UPDATE sessions SET tools = ?3 WHERE tenant = ?1 AND id = ?2").with(tools);
        self.statements.push(update);
        self.step();
    }

    /// An epoch that was undone: what it marked is not compacted, what it added is not there.
    pub(super) fn undo(&mut self, epoch: u32) {
        let update = self.statement(
            "UPDATE epochs SET undone_sequence = ?4, undone_at = ?5 \
             WHERE tenant = ?1 AND session = ?2 AND epoch = ?3 AND undone_sequence IS NULL",
        );
        let update = update.with(epoch).with(self.sequence).with(self.now).expect_one();
        let unmark = self.statement(
            "UPDATE messages SET compacted_at = NULL, compacted_epoch = NULL, compacted_into = NULL \
             WHERE tenant = ?1 AND session = ?2 AND compacted_epoch = ?3",
        );
        let remove = self.statement("DELETE FROM messages WHERE tenant = ?1 AND session = ?2 AND added_epoch = ?3");
        self.statements.extend([update, unmark.with(epoch), remove.with(epoch)]);
        self.step();
    }
}

/// The columns that every message has.
fn with_message(insert: Statement, message: &Message, now: i64) -> Result<Statement, StoreError> {
    let insert = insert.with(message.role.as_str()).with(word(&message.origin)?);
    let insert = insert.with(message.origin == Origin::Summary).with(now);
    Ok(insert.with(json("a message", message)?))
}

/// A value that is written as one word, such as a trigger.
fn word(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    Ok(Value::from(json("a word", value)?.trim_matches('"')))
}
