//! The session: log, journal, view.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::block::{ToolCall, ToolResult};
use crate::fold::{Entry, EntryKey, Position, apply_epoch, reconcile};
use crate::hash::{self, Hash};
use crate::heading::Heading;
use crate::journal::{Change, Epoch, Trigger};
use crate::message::{Message, MessageId, Origin, Role};
use crate::pairing::Pairing;
use crate::request_limits::{RequestLimits, RequestSize};
use crate::speaker;
use crate::summarizer::SummaryUsage;

/// An append-only log of messages, a journal of epochs, and the view that is folded from them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "StoredSession", into = "StoredSession")]
pub struct Session {
    /// The session's id, where the recording has one.
    pub id: Option<Arc<str>>,
    /// The model that goes on with the session, as its agent or a request names it: tokens are counted as it does.
    pub model: Option<Arc<str>>,
    /// What its provider takes in one request beside tokens, where that is known.
    pub limits: Option<RequestLimits>,
    /// Tool definitions as recorded JSON text; they are sent with every request and belong to no message.
    pub tools: Option<Arc<str>>,
    log: Vec<Arc<Message>>,
    positions: Vec<Position>,
    journal: Vec<Epoch>,
    view: Vec<Entry>,
    /// The ids in use, with how often each was asked for.
    ids: HashMap<MessageId, u32>,
    /// Which call each result answers, and the calls that wait.
    pairing: Pairing,
    /// The calling message that is followed only by its own results so far, and by what programs that it started called.
    answering: Option<u32>,
    /// The hash of the log.
    log_hash: Hash,
    /// The hash of each epoch of the journal.
    epoch_hashes: Vec<Hash>,
    /// The coverage of the messages that epochs added.
    stands_for: HashMap<EntryKey, SummaryCoverage>,
}

/// Returns the name of the tool that a result of the message `caller` is of. `None` where that is not certain: the result names
/// another tool, or calls of several tools have the id and it names none of them.
fn tool_of<'c>(caller: &'c Message, result: &ToolResult) -> Option<&'c str> {
    let calls = || caller.calls().filter(|(_, call)| call.id == result.call_id).map(|(_, call)| &*call.name);
    let first = calls().next()?;
    match result.name.as_deref() {
        Some(named) => calls().find(|name| *name == named),
        None => calls().all(|name| name == first).then_some(first),
    }
}

/// What a summary covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SummaryCoverage {
    /// How many messages.
    messages: u32,
    /// Its level of summary.
    level: u32,
}

/// Why an epoch cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UndoError {
    /// The journal has no such epoch.
    #[error("there is no compaction {epoch}: the journal holds {count}")]
    Unknown {
        /// The number that was asked for.
        epoch: u32,
        /// How many epochs the journal has.
        count: usize,
    },
    /// The epoch is undone already.
    #[error("compaction {0} is undone already")]
    AlreadyUndone(u32),
    /// A later epoch depends on it.
    #[error("compaction {later} covers what compaction {epoch} changed: undo {later} first")]
    Covered {
        /// The epoch that was asked for.
        epoch: u32,
        /// The one that depends on it.
        later: u32,
    },
}

impl Session {
    /// Returns an empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message and returns its key. Amortised constant time.
    ///
    /// A message whose id is in use gets a suffix, so ids stay unique. A result that arrives after other messages have
    /// followed its call is placed directly behind the call, where providers want it.
    /// A result without the id of a call is given one: see [`Message::recorded_call_id`].
    pub fn push(&mut self, mut message: Message) -> EntryKey {
        let call = self.pairing.pair_next(&self.log, std::slice::from_mut(&mut message)).pop().flatten();
        let entry = self.append(message, call);
        let (key, position, is_late) = (entry.key, entry.position, !entry.is_in_place());
        let at = self.view.partition_point(|other| other.position < position);
        self.view.insert(at, entry); // at the end, but for a late result
        if is_late {
            reconcile(&mut self.view);
        }
        key
    }

    /// Appends a message to the log and returns its entry, which is not in the view yet. `call` is the number of the
    /// message whose call it answers.
    fn append(&mut self, mut message: Message, call: Option<usize>) -> Entry {
        let index = self.log.len() as u32;
        message.id = self.unique_id(message.id, index);
        let caller = call.map(|call| &*self.log[call]);
        // A result that came with another id than its call's has been given the call by its order.
        let is_by_order = message.recorded_call_id.is_some();
        speaker::attribute(&mut message, |result| {
            tool_of(caller?, result).filter(|_| !is_by_order || result.name.is_some())
        });
        let position = self.place(&message, index, call.map(|call| call as u32));
        if message.role != Role::Tool {
            let step = self.answering.filter(|step| self.is_continued_by(*step, &message));
            self.answering = step.or_else(|| message.calls().next().map(|_| index));
        }
        self.log_hash = hash::log(&self.log_hash, &message);
        let message = Arc::new(message);
        self.log.push(Arc::clone(&message));
        self.positions.push(position);
        Entry::new(EntryKey::Log(index), position, message)
    }

    /// Whether a message's calls are made from a program that the step begun by message `step` of the log started.
    fn is_continued_by(&self, step: u32, message: &Message) -> bool {
        let Some(program) = message.program.as_ref().filter(|_| message.role == Role::Assistant) else { return false };
        self.log[step as usize..].iter().any(|message| message.calls().any(|(_, call)| call.id == *program))
    }

    fn unique_id(&mut self, id: MessageId, index: u32) -> MessageId {
        let base = if id.as_str().is_empty() { MessageId::new(format!("m{index}")) } else { id };
        let mut unique = base.clone();
        while self.ids.contains_key(&unique) {
            // The count of an id tells where the search for a free suffix continues.
            let taken = self.ids.entry(base.clone()).or_insert(1);
            *taken += 1;
            unique = MessageId::new(format!("{base}#{taken}"));
        }
        self.ids.insert(unique.clone(), 1);
        unique
    }

    /// Returns the position of a message that is about to become number `index` of the log, and answers a call of the
    /// message `call`.
    fn place(&mut self, message: &Message, index: u32, call: Option<u32>) -> Position {
        let own = Position::log(index);
        if message.role != Role::Tool {
            return own;
        }
        match call {
            Some(call) if self.answering.is_some_and(|step| step <= call) => own,
            // Directly behind its call, whatever has arrived between.
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

    /// Returns the call that a result would answer if it were pushed now. Constant time where it has the id of an open
    /// call.
    pub fn call_of(&self, result: &ToolResult) -> Option<&ToolCall> {
        let (message, block) = self.pairing.find(&self.log, result)?;
        self.log.get(message)?.blocks.get(block)?.as_call()
    }

    /// Returns every message ever said, in the order of arrival.
    pub fn log(&self) -> &[Arc<Message>] {
        &self.log
    }

    /// Returns the numbers of the messages that were [taken back](Trigger::TakenBack). Linear in the journal.
    pub fn taken_back(&self) -> HashSet<u32> {
        let taken = self.journal.iter().filter(|epoch| !epoch.undone && epoch.trigger == Trigger::TakenBack);
        taken
            .flat_map(Epoch::changes)
            .filter_map(|change| match change.entry() {
                EntryKey::Log(index) => Some(index),
                EntryKey::Synthetic { .. } => None,
            })
            .collect()
    }

    /// Returns the log without what was taken back: what the session says, compacted or not. A copy of the list only where
    /// something was taken back.
    pub fn standing_log(&self) -> Cow<'_, [Arc<Message>]> {
        let taken = self.taken_back();
        if taken.is_empty() {
            return Cow::Borrowed(&self.log);
        }
        let stands = |(message, index): (&Arc<Message>, u32)| (!taken.contains(&index)).then(|| Arc::clone(message));
        self.log.iter().zip(0..).filter_map(stands).collect()
    }

    /// Returns every epoch, undone ones included.
    pub fn journal(&self) -> &[Epoch] {
        &self.journal
    }

    /// Returns an empty session that goes on with what another does: its model, its provider's limits, its tools.
    pub fn with_settings_of(other: &Self) -> Self {
        let (model, limits, tools) = (other.model.clone(), other.limits, other.tools.clone());
        Self { model, limits, tools, ..Self::default() }
    }

    /// Returns what its view is for its provider beside tokens. Linear in the blocks.
    pub fn request_size(&self, limits: &RequestLimits) -> RequestSize {
        let mut load = RequestSize::of(self.view.iter().map(|entry| &*entry.message), limits);
        load.bytes += self.tools.as_ref().map_or(0, |tools| tools.len());
        load
    }

    /// Returns the limit of the provider's, beside tokens, that its view is over, in words; `None` where it keeps all that are
    /// known. Linear in the blocks.
    pub fn exceeded_limit(&self) -> Option<String> {
        let limits = self.limits.as_ref()?;
        self.request_size(limits).exceeded_limit(limits)
    }

    /// Returns the compacted view: what the model would see now.
    pub fn view(&self) -> &[Entry] {
        &self.view
    }

    /// Returns the full view: every message of the log, no summary. Linear in the log.
    pub fn full_view(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = (0..self.log.len()).map(|index| self.log_entry(index)).collect();
        entries.sort_by_key(|entry| entry.position);
        entries
    }

    /// Returns the same log without any compaction: its view is the full one, but for what was taken back.
    pub fn without_journal(&self) -> Self {
        let mut bare = self.clone();
        bare.journal.clear();
        bare.epoch_hashes.clear();
        bare.view = bare.full_view();
        let mut taken_back: Vec<u32> = self.taken_back().into_iter().collect();
        if !taken_back.is_empty() {
            taken_back.sort_unstable();
            bare.commit(Epoch::taken_back(taken_back.into_iter().map(EntryKey::Log)));
        }
        bare
    }

    /// Returns how many compactions are in force.
    pub fn cycle(&self) -> u32 {
        self.journal.iter().filter(|epoch| epoch.is_compaction()).count() as u32
    }

    /// Returns what models took for the summaries of its compactions, of those too that were undone. Linear in the journal.
    pub fn summary_usage(&self) -> SummaryUsage {
        let mut usage = SummaryUsage::default();
        self.journal.iter().filter_map(|epoch| epoch.summarizer.as_ref()).for_each(|record| usage.add(&record.models));
        usage
    }

    /// Returns the tokens that the newest compaction in force left, where they are known.
    pub fn newest_tokens_after(&self) -> Option<u32> {
        self.journal.iter().rev().find(|epoch| epoch.is_compaction())?.tokens_after
    }

    /// Returns the number of the next committed epoch.
    pub fn next_epoch(&self) -> u32 {
        self.journal.len() as u32
    }

    /// Returns a hash of everything that a compaction depends on, in its order: every message of the log whole, every
    /// epoch of the journal with its changes and texts and whether it is undone, and the tool definitions, but not the
    /// session's id. Two sessions with the same hash have the same log, journal and view, whether they grew in memory
    /// or were read from a store. Costs the length of the tool definitions and the number of epochs.
    pub fn state_hash(&self) -> [u8; 32] {
        let undone = self.journal.iter().map(|epoch| epoch.undone);
        hash::state(&self.log_hash, self.tools.as_deref(), self.epoch_hashes.iter().zip(undone))
    }

    /// Returns the [`state_hash`](Self::state_hash) that the session had when its log held `messages` messages and its
    /// journal was the present one; `None` where an epoch came later, or where there are fewer messages. Linear in
    /// these messages.
    pub fn state_hash_at(&self, messages: usize) -> Option<[u8; 32]> {
        let is_later = |epoch: &Epoch| epoch.log_length as usize > messages;
        let log = self.log.get(..messages).filter(|_| !self.journal.iter().any(is_later))?;
        let log_hash = log.iter().fold(Hash::default(), |before, message| hash::log(&before, message));
        let undone = self.journal.iter().map(|epoch| epoch.undone);
        Some(hash::state(&log_hash, self.tools.as_deref(), self.epoch_hashes.iter().zip(undone)))
    }

    /// Whether the session has a message of that id.
    pub fn has_id(&self, id: &MessageId) -> bool {
        self.ids.contains_key(id)
    }

    /// Returns how many messages an entry represents: 1 for a message of the log, but for a summary or a notice that was
    /// read from text as many as its heading says; for a summary of this journal all that it replaced, those behind
    /// earlier summaries included. Linear in that heading, else constant time.
    pub fn covered_messages(&self, key: EntryKey) -> u32 {
        match key {
            EntryKey::Log(index) => self.log.get(index as usize).and_then(|it| headed_messages(it)).unwrap_or(1),
            EntryKey::Synthetic { .. } => self.stands_for.get(&key).map_or(0, |it| it.messages),
        }
    }

    /// Returns the messages of the log that an entry represents, in the order of the conversation: the message itself
    /// for a message of the log; for a summary all that it replaced, those behind earlier summaries included. Linear in
    /// them.
    pub fn originals(&self, key: EntryKey) -> Vec<Arc<Message>> {
        self.original_numbers(key).into_iter().map(|index| Arc::clone(&self.log[index as usize])).collect()
    }

    /// Returns the numbers in the log of the messages that an entry represents, as [`originals`](Self::originals) has them.
    pub fn original_numbers(&self, key: EntryKey) -> Vec<u32> {
        let mut positions = Vec::new();
        self.add_originals(key, &mut positions);
        positions.sort_unstable();
        positions.into_iter().map(|(_, index)| index).collect()
    }

    fn add_originals(&self, key: EntryKey, positions: &mut Vec<(Position, u32)>) {
        let (epoch, index) = match key {
            EntryKey::Log(index) => {
                positions.extend(self.positions.get(index as usize).map(|position| (*position, index)));
                return;
            }
            EntryKey::Synthetic { epoch, index } => (epoch, index),
        };
        let Some(epoch) = self.journal.get(epoch as usize) else { return };
        let replaced = epoch.edits.iter().filter(|edit| edit.into == Some(index)).flat_map(|edit| &edit.changes);
        for change in replaced.filter(|change| matches!(change, Change::Remove { .. }) && change.entry() != key) {
            self.add_originals(change.entry(), positions);
        }
    }

    /// Returns the level of summary of an entry: 0 for a message of the log, 1 for a summary of such messages; for a
    /// summary of summaries one more than the highest level that it replaced. Constant time.
    pub fn summary_level(&self, key: EntryKey) -> u32 {
        self.stands_for.get(&key).map_or(0, |it| it.level)
    }

    /// Returns the summary of an epoch ([`Epoch::summary`]), where it stands in the view. Linear in the view.
    pub fn summary_of(&self, epoch: u32) -> Option<&Entry> {
        let own = |entry: &Entry| match entry.key {
            EntryKey::Synthetic { epoch: of, index } if of == epoch => Some(index),
            _ => None,
        };
        let shown: HashSet<u32> = self.view.iter().filter_map(own).collect();
        let number = self.journal.get(epoch as usize)?.summary(|number| shown.contains(&number))?;
        self.view.iter().find(|entry| own(entry) == Some(number))
    }

    /// Records what each message that `epoch` adds covers. Edits are in the order in which they were made, so the
    /// coverage of what one of them replaces is known. Example: S0 replaces the messages 1 to 3 (3 messages, level 1);
    /// S1 replaces S0 and message 4 (3 + 1 messages, level 2). Two edits into one message add up. Linear in the epoch.
    fn note_what_it_stands_for(&mut self, epoch: &Epoch) {
        for edit in &epoch.edits {
            let Some(index) = edit.into else { continue };
            let key = EntryKey::Synthetic { epoch: epoch.id, index };
            let mut replaced = SummaryCoverage::default();
            for change in edit.changes.iter().filter(|change| change.entry() != key) {
                let entry = change.entry();
                replaced.level = replaced.level.max(1 + self.summary_level(entry));
                if matches!(change, Change::Remove { .. }) {
                    replaced.messages = replaced.messages.saturating_add(self.covered_messages(entry));
                }
            }
            let it = self.stands_for.entry(key).or_default();
            it.level = it.level.max(replaced.level);
            it.messages = it.messages.saturating_add(replaced.messages);
        }
    }

    /// Appends `epoch` to the journal, numbers it and folds it into the view. Linear in the view.
    ///
    /// Nothing is checked here: only the engine and readers of recordings make epochs. Synthetic ids are made unique.
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
        self.note_what_it_stands_for(&epoch);
        self.journal.push(epoch);
        self.journal.len() as u32 - 1
    }

    /// Takes an epoch out of the fold: the view becomes what it would be without that compaction, messages that arrived
    /// since included.
    ///
    /// Refused when a later epoch in force changes what it changed or added. Linear in the log.
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

    /// Returns the later epoch that keeps an epoch in force from being [undone](Self::undo): the first one in force that changes
    /// what it changed or added. Linear in the changes of all later epochs.
    pub fn covered_by(&self, epoch: u32) -> Option<u32> {
        let target = self.journal.get(epoch as usize).filter(|target| !target.undone)?;
        self.covering(target)
    }

    /// Goes to another place in the conversation, as an agent does whose person went back: the epochs of which `holds` is
    /// true are in force, the others are undone, and of the log only the messages of which `stays` is true are in the view.
    /// What leaves is [`taken_back`](Self::taken_back). Linear in the log.
    ///
    /// Nothing is checked here: only readers of recordings know the places.
    pub fn switch_branch(&mut self, holds: impl Fn(&Epoch) -> bool, stays: impl Fn(u32) -> bool) {
        for epoch in &mut self.journal {
            epoch.undone = !holds(epoch);
        }
        self.refold();
        let leaves = |entry: &Entry| matches!(entry.key, EntryKey::Log(index) if !stays(index)).then_some(entry.key);
        let left: Vec<EntryKey> = self.view.iter().filter_map(leaves).collect();
        if !left.is_empty() {
            self.commit(Epoch::taken_back(left));
        }
    }

    /// Returns the first later epoch in force that changes what `target` changed or added.
    fn covering(&self, target: &Epoch) -> Option<u32> {
        let mut touched: HashSet<EntryKey> = target.changes().map(|change| change.entry()).collect();
        touched
            .extend((0..target.synthetics.len() as u32).map(|index| EntryKey::Synthetic { epoch: target.id, index }));
        // Thinking that left behind a change must not come back while a later epoch changes something in front of it.
        let stripped = target.changes().filter(|change| matches!(change, Change::Strip { mark: None, .. }));
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

    /// Returns the message of an entry as it was recorded, or as a compaction wrote it. Constant time.
    pub fn message(&self, key: EntryKey) -> Option<&Arc<Message>> {
        match key {
            EntryKey::Log(index) => self.log.get(index as usize),
            EntryKey::Synthetic { epoch, index } => {
                Some(&self.journal.get(epoch as usize)?.synthetics.get(index as usize)?.message)
            }
        }
    }

    /// Returns the place of an entry among the others. Constant time.
    pub fn position(&self, key: EntryKey) -> Option<Position> {
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

    /// Folds the log through the journal, each epoch at the length that the log had when the epoch was committed.
    fn refold(&mut self) {
        let mut view: Vec<Entry> = Vec::new();
        let mut at = 0;
        for epoch in self.journal.iter().filter(|epoch| !epoch.undone) {
            let length = (epoch.log_length as usize).min(self.log.len());
            view.extend((at..length).map(|index| self.log_entry(index)));
            at = at.max(length);
            view.sort_by_key(|entry| entry.position);
            // As it was when the epoch was made: late results had replaced answers by then.
            reconcile(&mut view);
            apply_epoch(&mut view, epoch);
        }
        view.extend((at..self.log.len()).map(|index| self.log_entry(index)));
        view.sort_by_key(|entry| entry.position);
        reconcile(&mut view);
        self.view = view;
    }
}

impl Extend<Message> for Session {
    /// Appends messages as repeated calls of [`push`](Self::push) would. Linear in them and in the view, however many
    /// of them are late results: pushing such a one alone costs the view's length.
    fn extend<M: IntoIterator<Item = Message>>(&mut self, messages: M) {
        let mut is_late = false;
        let mut messages: Vec<Message> = messages.into_iter().collect();
        let calls = self.pairing.pair_next(&self.log, &mut messages);
        for (message, call) in messages.into_iter().zip(calls) {
            let entry = self.append(message, call);
            is_late |= !entry.is_in_place();
            self.view.push(entry);
        }
        if is_late {
            self.view.sort_by_key(|entry| entry.position); // sorted but for the late results
            reconcile(&mut self.view);
        }
    }
}

/// Returns how many messages the heading of a summary or a notice says that it replaced, and at least 1, the message itself;
/// `None` without a heading.
fn headed_messages(message: &Message) -> Option<u32> {
    if !matches!(message.origin, Origin::Summary | Origin::Notice) {
        return None;
    }
    Some(u32::try_from(Heading::read(message.texts().next()?)?.messages).unwrap_or(u32::MAX).max(1))
}

/// The stored part of a session: the rest is folded from it.
#[derive(Serialize, Deserialize)]
struct StoredSession {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limits: Option<RequestLimits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<str>>,
    log: Vec<Arc<Message>>,
    #[serde(default)]
    journal: Vec<Epoch>,
}

impl From<Session> for StoredSession {
    fn from(session: Session) -> Self {
        let Session { id, model, limits, tools, log, journal, .. } = session;
        Self { id, model, limits, tools, log, journal }
    }
}

impl From<StoredSession> for Session {
    fn from(stored: StoredSession) -> Self {
        let StoredSession { id, model, limits, tools, .. } = stored;
        let mut session = Self { id, model, limits, tools, ..Self::default() };
        let mut log: Vec<Message> = stored.log.into_iter().map(Arc::unwrap_or_clone).collect();
        let calls = session.pairing.pair_next(&[], &mut log);
        for (message, call) in log.into_iter().zip(calls) {
            session.append(message, call); // the view is folded below
        }
        for epoch in &stored.journal {
            session.epoch_hashes.push(hash::epoch(epoch));
            session.ids.extend(epoch.synthetics.iter().map(|synthetic| (synthetic.message.id.clone(), 1)));
            session.note_what_it_stands_for(epoch);
        }
        session.journal = stored.journal;
        session.refold();
        session
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
