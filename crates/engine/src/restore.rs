//! Restores messages that left: the edits that removed them are undone, and what is left of these edits is recorded anew.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{AppliedEdit, Change, Entry, EntryKey, Message, Origin, Position, Reason};
use epitome_strategy::{ArchivedContent, HostChanges, TokenCounter, Tokens};

use crate::editor::{Editor, archive_first};
use crate::guard::EditRefusal;
use crate::ledger::{count_block, count_message, is_blank, is_sent};
use crate::refill::{BeforeChain, REFILL, Restoration};
use crate::slots::Slot;
use crate::wording;
use crate::working::joints;

impl Editor<'_> {
    /// Returns a message as it was in front of the chain; a text of this compaction as it was written.
    pub(crate) fn base(&self, before: &BeforeChain<'_>, key: EntryKey) -> Option<Slot> {
        if let Some(at) = before.places.get(&key) {
            return Some(before.view.slot(*at));
        }
        let EntryKey::Synthetic { epoch, index } = key else { return None };
        let own = self.working.synthetics.get(index as usize).filter(|_| epoch == self.context.epoch)?;
        let entry = Entry::new(key, own.position, Arc::clone(&own.message));
        let level = self.working.removed(key).map_or(0, |removed| removed.level);
        Some(Slot { entry, tokens: count_message(self.context.counter, &own.message), is_marked: false, level })
    }

    /// Undoes what the chain did to `restoration`: they are shown as they were in front of it, but for thinking that left. What
    /// edits removed beside them stays away, each run of neighbours with a handle of its own; a text that stands for some of
    /// them says for how many it stands now. Linear in the view and the edits, but for sorting.
    pub(crate) fn restore(
        &mut self,
        before: &BeforeChain<'_>,
        mut restoration: Restoration,
    ) -> Result<(), EditRefusal> {
        if !restoration.messages.is_empty() && self.working.host == HostChanges::Any {
            self.take_notices_back()?;
        }
        let places = restoration.messages.iter().filter_map(|key| Some(self.working.removed(*key)?.position));
        let mut places: Vec<Position> = places.collect();
        places.sort_unstable();
        let edits = self.working.edits.split_off(before.view.edits.len());
        for edit in edits {
            self.keep_rest(before, edit, &places, &mut restoration)?;
        }
        let mut changes: HashMap<EntryKey, Vec<Change>> = restoration
            .blocks
            .iter()
            .map(|(key, _)| *key)
            .chain(restoration.messages.iter().copied())
            .map(|key| (key, vec![]))
            .collect();
        for change in self.working.edits[before.view.edits.len()..].iter().flat_map(|edit| &edit.changes) {
            if let Some(changes) = changes.get_mut(&change.entry()) {
                changes.push(change.clone());
            }
        }
        for at in 0..self.working.entries().len() {
            if let Some(changes) = changes.remove(&self.working.entries()[at].key)
                && let Some(base) = self.base(before, self.working.entries()[at].key)
            {
                let now = self.working.tokens()[at].blocks.clone();
                self.working.show(at, with_changes(self.context.counter, base, &changes, &now));
            }
        }
        let mut back: Vec<(EntryKey, Vec<Change>)> = changes.into_iter().collect();
        back.sort_unstable_by_key(|(key, _)| *key);
        for (key, changes) in back {
            if let Some(base) = self.base(before, key) {
                self.working.restore(with_changes(self.context.counter, base, &changes, &[]));
            }
        }
        self.working.end_pass();
        Ok(())
    }

    /// Has the notices of this compaction leave again: they are written anew in the end.
    fn take_notices_back(&mut self) -> Result<(), EditRefusal> {
        let mut notices = Vec::new();
        for (at, entry) in self.working.entries().iter().enumerate() {
            let EntryKey::Synthetic { epoch, index } = entry.key else { continue };
            let stands_for_others = self.working.edits.iter().any(|edit| edit.into == Some(index));
            if epoch == self.context.epoch && entry.message.origin == Origin::Notice && stands_for_others {
                notices.push((at, index));
            }
        }
        for (at, index) in notices {
            self.drop_messages(REFILL, &[at], Reason::new("counted-anew", "messages that it counts came back"))?;
            if let Some(own) = self.working.edits.last_mut() {
                own.tokens_saved = 0; // what it stood for saves its tokens as well
            }
            for edit in self.working.edits.iter_mut().filter(|edit| edit.into == Some(index)) {
                edit.into = None;
            }
        }
        self.working.end_pass();
        Ok(())
    }

    /// Records what is left of an edit without `restoration`, whose `places` (ascending) part the runs of what it removed.
    fn keep_rest(
        &mut self,
        before: &BeforeChain<'_>,
        mut edit: AppliedEdit,
        places: &[Position],
        restoration: &mut Restoration,
    ) -> Result<(), EditRefusal> {
        let is_undone = |change: &Change| match change {
            Change::Remove { entry } => restoration.messages.contains(entry),
            Change::Excerpt { entry, block, .. } | Change::Trim { entry, block, .. } => {
                restoration.messages.contains(entry) || restoration.blocks.contains(&(*entry, *block))
            }
            Change::Strip { .. } => false,
        };
        let (undone, rest): (Vec<Change>, Vec<Change>) = edit.changes.iter().cloned().partition(is_undone);
        if rest.is_empty() && !undone.is_empty() {
            return Ok(());
        }
        let is_told = edit.into.is_some_and(|text| self.is_own_text_shown(text));
        if is_told {
            if !undone.is_empty() {
                (edit.recall, edit.tokens_saved) = (
                    self.archive_again(before, &rest)?,
                    edit.tokens_saved - self.tokens_removed(&undone).min(edit.tokens_saved),
                );
                edit.changes = rest;
                self.tell_of_fewer(&mut edit, &undone);
            }
            self.working.edits.push(edit);
            return Ok(());
        }
        if undone.is_empty() && edit.into.is_some() {
            // Its text left in turn: what that one's edit says goes for its messages, too.
            self.working.edits.push(edit);
            return Ok(());
        }
        let place = |change: &Change| self.working.removed(change.entry()).map(|it| it.position);
        let is_one_run = |one: &Change, next: &Change| {
            let at = places.partition_point(|it| Some(*it) <= place(one));
            places.get(at).is_none_or(|it| Some(*it) > place(next))
        };
        let runs: Vec<Vec<Change>> = rest.chunk_by(is_one_run).map(<[Change]>::to_vec).collect();
        if undone.is_empty() && runs.len() <= 1 {
            self.working.edits.push(edit);
            return Ok(());
        }
        for run in runs {
            let tokens_saved = self.tokens_removed(&run);
            if tokens_saved == 0 {
                // What costs nothing cannot leave for itself.
                restoration.messages.extend(run.iter().map(Change::entry));
                continue;
            }
            let recall = self.archive_again(before, &run)?;
            self.working.edits.push(AppliedEdit { recall, tokens_saved, changes: run, into: None, ..edit.clone() });
        }
        Ok(())
    }

    fn is_own_text_shown(&self, text: u32) -> bool {
        let key = EntryKey::Synthetic { epoch: self.context.epoch, index: text };
        self.working.removed(key).is_none()
    }

    fn tokens_removed(&self, changes: &[Change]) -> Tokens {
        changes.iter().filter_map(|change| self.working.removed(change.entry())).map(|it| it.tokens).sum()
    }

    /// Archives what is left of a removal; `None` where there is nothing in it to bring back.
    fn archive_again(&mut self, before: &BeforeChain<'_>, rest: &[Change]) -> Result<Option<Arc<str>>, EditRefusal> {
        let bases = rest.iter().filter_map(|change| self.base(before, change.entry()));
        let messages: Vec<Arc<Message>> = bases.map(|base| base.entry.original).collect();
        if messages.iter().all(|message| is_blank(message)) {
            return Ok(None);
        }
        archive_first(self.context, self.archive, ArchivedContent::Messages(messages)).map(Some)
    }

    /// Has the text that `edit` wrote say for how many messages it stands without those of `undone`.
    fn tell_of_fewer(&mut self, edit: &mut AppliedEdit, undone: &[Change]) {
        let Some(index) = edit.into else { return };
        let Some(own) = self.working.synthetics.get(index as usize) else { return };
        let key = EntryKey::Synthetic { epoch: self.context.epoch, index };
        let Some(tokens_before) = self.working.unchanged_tokens(key) else { return };
        let fewer: usize = undone.iter().map(|change| self.covered_by(change.entry())).sum();
        let messages = self.working.covers(index).saturating_sub(fewer);
        let handle = edit.recall.as_deref().and_then(|handle| self.context.usable_handle(handle));
        let text = own.message.plain_text();
        let text = match text.split_once('\n') {
            Some((_, body)) => format!("{}\n{body}", wording::summary_heading(self.context.language, messages, handle)),
            None => wording::notice(self.context.language, messages, handle),
        };
        let message = Message::text(own.message.id.as_str(), own.message.role, own.message.origin, text);
        let tokens = count_message(self.context.counter, &message);
        edit.tokens_saved = (edit.tokens_saved + tokens_before).saturating_sub(tokens.total);
        self.working.rewrite(index, message, tokens, 0, messages);
    }
}

/// Returns a message with the changes that stay, whose shortened blocks take the tokens of `now`.
fn with_changes(counter: &dyn TokenCounter, mut slot: Slot, changes: &[Change], now: &[Tokens]) -> Slot {
    let Slot { entry, tokens, .. } = &mut slot;
    let frame = tokens.total.saturating_sub(tokens.blocks.iter().sum::<Tokens>() + joints(&entry.message));
    for change in changes {
        entry.apply(change);
        match change {
            Change::Excerpt { block, .. } | Change::Trim { block, .. } => {
                tokens.blocks[*block as usize] = now.get(*block as usize).copied().unwrap_or(0);
            }
            Change::Strip { block, .. } => {
                tokens.blocks[*block as usize] = count_block(counter, &entry.message.blocks[*block as usize]);
            }
            Change::Remove { .. } => {}
        }
    }
    let sum: Tokens = tokens.blocks.iter().sum();
    tokens.total = if is_sent(&entry.message) { frame + joints(&entry.message) + sum } else { 0 };
    slot
}
