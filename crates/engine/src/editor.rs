//! Editing a view: what an edit removes is archived first, then the edit is applied, counted and recorded.

use std::sync::Arc;

use epitome_session::{EditKind, Entry, EntryKey, Message, Origin, Position, Reason, Role};
use epitome_strategy::{Archive, ArchivedContent, BlockRef, EntryTokens, HostChanges, Tokens, View};

use crate::context::Context;
use crate::guard::{self, EditRefusal, Guard, HostChange};
use crate::ledger::{count_message, is_blank};
use crate::slots::Slot;
use crate::working::{Layout, WorkingView};

/// Everything that an edit needs: the view of one compaction, the context that is constant during it, and the archive
/// for what leaves. Strategies' edits and the engine's own stages go through it.
pub(crate) struct Editor<'e> {
    pub working: WorkingView,
    pub context: &'e Context<'e>,
    pub archive: &'e mut dyn Archive,
}

/// The message that replaces others.
pub(crate) struct Replacement<'a> {
    /// [`Origin::Summary`] or [`Origin::Notice`].
    pub origin: Origin,
    /// Makes its text from the archive's handle.
    pub write: &'a dyn Fn(&str) -> String,
}

/// An edit of one block: its author, place and reason.
pub(crate) struct BlockEdit<'a> {
    pub strategy: &'a str,
    pub at: BlockRef,
    pub reason: Reason,
}

impl<'a> BlockEdit<'a> {
    pub(crate) fn new(strategy: &'a str, message: u32, block: u32, reason: Reason) -> Self {
        Self { strategy, at: BlockRef { message, block }, reason }
    }
}

impl<'e> Editor<'e> {
    pub(crate) fn new(working: WorkingView, context: &'e Context<'e>, archive: &'e mut dyn Archive) -> Self {
        Self { working, context, archive }
    }

    /// Returns a copy of the view with an archive of its own, to try edits out.
    pub(crate) fn fork<'f>(&self, archive: &'f mut dyn Archive) -> Editor<'f>
    where
        'e: 'f,
    {
        Editor::new(self.working.clone(), self.context, archive)
    }

    pub(crate) fn layout(&self) -> Layout {
        self.working.layout(self.context.pins)
    }

    pub(crate) fn view<'v>(&'v self, layout: &'v Layout) -> View<'v> {
        self.working.view(layout, self.context)
    }

    /// Returns the positions of the messages of `wanted` units, if all of them may leave.
    pub(crate) fn leaving(&self, layout: &Layout, wanted: &[u32]) -> Result<Vec<usize>, EditRefusal> {
        self.working.leaving(self.context.guards, layout, wanted)
    }

    /// Refuses a change that the host cannot make, unless the guard is off.
    pub(crate) fn check_host(&self, change: HostChange) -> Result<(), EditRefusal> {
        if self.context.guards.on(Guard::Host) { guard::host(self.working.host, change) } else { Ok(()) }
    }

    /// Refuses to replace the messages at `positions` by one where the host cannot. Linear in the view for a host that
    /// takes one text, constant for others.
    pub(crate) fn check_replacement(&self, positions: &[usize]) -> Result<(), EditRefusal> {
        match self.working.host {
            HostChanges::Any => Ok(()),
            _ => self.check_host(self.working.replacement(self.context.pins, positions)),
        }
    }

    /// Refuses to remove the messages at `positions` where the host cannot. Linear in the view for a host that takes
    /// removals, constant for others.
    pub(crate) fn check_removal(&self, positions: &[usize]) -> Result<(), EditRefusal> {
        match self.working.host {
            HostChanges::Any => Ok(()),
            _ => self.check_host(self.working.removal(positions)),
        }
    }

    fn archive_messages(&mut self, positions: &[usize]) -> Result<Arc<str>, EditRefusal> {
        archive_first(self.context, self.archive, ArchivedContent::Messages(self.working.recorded_messages(positions)))
    }

    /// The handle of messages that leave; `None` where there is nothing in them to bring back.
    fn archive_non_empty(&mut self, positions: &[usize]) -> Result<Option<Arc<str>>, EditRefusal> {
        let entries = self.working.entries();
        if positions.iter().all(|position| is_blank(&entries[*position].original)) {
            return Ok(None);
        }
        self.archive_messages(positions).map(Some)
    }

    /// Removes the messages at `positions` (ascending) from the view: one edit for each run of neighbours, so that each
    /// place where text is missing has a handle of its own.
    pub(crate) fn drop_messages(
        &mut self,
        strategy: &str,
        positions: &[usize],
        reason: Reason,
    ) -> Result<Tokens, EditRefusal> {
        self.check_removal(positions)?;
        let runs: Vec<Vec<usize>> = self.working.runs(positions).into_iter().map(<[usize]>::to_vec).collect();
        let recalls = runs.iter().map(|run| self.archive_non_empty(run)).collect::<Result<Vec<_>, _>>()?;
        for (run, recall) in runs.iter().zip(recalls) {
            let saved = self.working.tokens_of(run);
            let changes = self.working.remove(run);
            let edit = self.working.record(EditKind::Drop, strategy, reason.clone());
            (edit.recall, edit.tokens_saved, edit.changes) = (recall, saved, changes);
        }
        Ok(runs.iter().map(|run| self.working.tokens_of(run)).sum())
    }

    /// Removes the messages at `positions` as [`drop_messages`](Self::drop_messages) does. Runs that cost nothing stay: they
    /// are not sent.
    pub(crate) fn drop_for_gain(
        &mut self,
        strategy: &str,
        positions: &[usize],
        reason: Reason,
    ) -> Result<Tokens, EditRefusal> {
        let runs = self.working.runs(positions).into_iter();
        let costly = runs.filter(|run| self.working.tokens_of(run) > 0).flatten().copied().collect::<Vec<_>>();
        if costly.is_empty() {
            return Err(EditRefusal::NoGain);
        }
        self.drop_messages(strategy, &costly, reason)
    }

    /// Replaces the messages at `positions`, a run of neighbours, by one message in the place of the first, whose text has no
    /// secrets.
    pub(crate) fn replace_messages(
        &mut self,
        strategy: &str,
        positions: &[usize],
        reason: Reason,
        replacement: Replacement<'_>,
    ) -> Result<Tokens, EditRefusal> {
        let context = self.context;
        self.working.check_order(context.guards, positions)?;
        self.check_replacement(positions)?;
        let recall = self.archive_messages(positions)?;
        let sequence = self.working.synthetics.len() as u32;
        let id = context.free_id(sequence as usize);
        let role = match replacement.origin {
            // With one text alone nothing but that could open the conversation.
            Origin::Summary if !self.working.host.takes_one_text() => context.summary_role.role(),
            // Another message may have to open the conversation now.
            _ => Role::User,
        };
        let text = (replacement.write)(&recall);
        let message = Message::text(id.0, role, replacement.origin, context.redacted(&text));
        let tokens = count_message(context.counter, &message);
        let before = self.working.tokens_of(positions);
        let saved = if context.guards.on(Guard::Progress) {
            guard::progress(before, tokens.total)?
        } else {
            before.saturating_sub(tokens.total)
        };
        let position = Position::in_place_of(self.working.entries()[positions[0]].position, context.epoch, sequence);
        let (level, covers) = (self.working.level_above(positions), self.covered_messages(positions));
        let changes = self.working.remove(positions);
        // A notice holds nothing of what it names.
        let kind = if replacement.origin == Origin::Notice { EditKind::Drop } else { EditKind::Summarize };
        let edit = self.working.record(kind, strategy, reason);
        (edit.recall, edit.tokens_saved, edit.changes) = (Some(recall), saved, changes);
        edit.into = Some(sequence);
        let slot = self.slot(position, message, tokens, level);
        self.working.add(slot, covers);
        Ok(saved)
    }

    /// Adds a message that replaces none: an answer, an opening. It saves nothing and is reported.
    pub(crate) fn write(&mut self, strategy: &str, position: Position, mut message: Message, reason: Reason) {
        message.id = self.context.free_id(self.working.synthetics.len());
        let tokens = count_message(self.context.counter, &message);
        self.working.record(EditKind::Summarize, strategy, reason);
        let slot = self.slot(position, message, tokens, 0);
        self.working.add(slot, 0);
    }

    /// Returns a message of the engine's, numbered as the next one of this compaction.
    pub(crate) fn slot(&self, position: Position, message: Message, tokens: EntryTokens, level: u32) -> Slot {
        let key = EntryKey::Synthetic { epoch: self.context.epoch, index: self.working.synthetics.len() as u32 };
        Slot { entry: Entry::new(key, position, Arc::new(message)), tokens, is_marked: false, level }
    }

    /// Returns how many messages of the log the entries at `positions` represent.
    pub(crate) fn covered_messages(&self, positions: &[usize]) -> usize {
        positions.iter().map(|position| self.covered_by(self.working.entries()[*position].key)).sum()
    }

    /// Returns how many messages of the log an entry represents.
    pub(crate) fn covered_by(&self, key: EntryKey) -> usize {
        match key {
            EntryKey::Synthetic { epoch, index } if epoch == self.context.epoch => self.working.covers(index),
            other => self.context.session.covered_messages(other) as usize,
        }
    }
}

/// Archives `item`, before the edit that removes it is applied. Returns its handle.
pub(crate) fn archive_first(
    context: &Context<'_>,
    archive: &mut dyn Archive,
    item: ArchivedContent,
) -> Result<Arc<str>, EditRefusal> {
    match archive.put(item) {
        Ok(handle) => Ok(handle),
        Err(_) if !context.guards.on(Guard::ArchiveFirst) => Ok(Arc::from("lost")),
        Err(error) => Err(EditRefusal::Archive(error.to_string())),
    }
}
