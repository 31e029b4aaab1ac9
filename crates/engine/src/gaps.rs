//! Gaps: places where messages left without a text, and the notices that tell the model of them.

use std::collections::{HashMap, HashSet};

use epitome_session::{Change, EditKind, EntryKey, Message, Origin, Position, Reason, Role};
use epitome_strategy::Tokens;

use crate::editor::Editor;
use crate::guard::{EditRefusal, HostChange};
use crate::ledger::count_message;
use crate::wording;

pub(crate) const NOTICES: &str = "notices";

/// The removed messages of a compaction, by the edit that removed them.
struct Removals {
    /// The number of the edit that removed each.
    edits: HashMap<EntryKey, usize>,
    /// Messages that left without a text, and texts that replaced such messages and left again.
    without_text: HashSet<EntryKey>,
}

/// A run of neighbours that left, without a text in their place.
struct Gap {
    /// The place of the first.
    place: Position,
    /// The messages: of the view before, or texts of this compaction that took the place of such and left again.
    keys: Vec<EntryKey>,
    tokens: Tokens,
    /// The notice of this compaction that it is beside or within: that notice counts it too.
    notice: Option<u32>,
}

impl Editor<'_> {
    /// Invariant (notices): where neighbours left without a text, a notice in their place says how many, as far as there is
    /// room: the largest gaps first, as long as the view takes no more than `most` tokens. A notice that is no shorter than
    /// what left is not written, and a host that cannot add messages has none. Each is part of the edits that made its gap.
    /// A notice that the floor wrote beside or around a gap counts its messages too.
    /// Linear in the view before and the edits, but for sorting.
    pub(crate) fn mark_gaps(&mut self, most: Tokens) -> Result<(), EditRefusal> {
        self.working.end_pass();
        self.mark_evicted_texts();
        let may_add = self.check_host(HostChange::Addition).is_ok();
        let mut removals = self.removals();
        let mut gaps = self.gaps(&mut removals);
        gaps.retain(|gap| may_add || gap.notice.is_some());
        if gaps.is_empty() && !may_add {
            return Ok(());
        }
        gaps.sort_by_key(|gap| (std::cmp::Reverse(gap.tokens), gap.place));
        for gap in gaps {
            self.context.check_cancelled()?;
            self.mark_gap(&gap, &removals, most);
        }
        self.restore_validity_unless_cancelled()
    }

    fn removals(&self) -> Removals {
        let mut edits = HashMap::new();
        for (number, edit) in self.working.edits.iter().enumerate() {
            let removed = edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. }));
            edits.extend(removed.map(|change| (change.entry(), number)));
        }
        Removals { edits, without_text: HashSet::new() }
    }

    /// Returns the last of the entry's successors: itself where no text took its place, else that text, or the one that
    /// took its place in turn.
    fn successor(&self, removals: &Removals, mut key: EntryKey) -> EntryKey {
        while let Some(index) = removals.edits.get(&key).and_then(|edit| self.working.edits[*edit].into) {
            key = EntryKey::Synthetic { epoch: self.context.epoch, index };
        }
        key
    }

    /// Returns the gaps, and adds to `removals` which messages left without a text.
    fn gaps(&self, removals: &mut Removals) -> Vec<Gap> {
        // A part of the system prompt is not a part of the conversation: messages on both sides of it are neighbours.
        let shown = self.working.entries().iter().filter(|entry| !entry.message.is_system_prompt());
        let shown: HashMap<EntryKey, Position> = shown.map(|entry| (entry.key, entry.position)).collect();
        let successors: Vec<EntryKey> =
            self.working.before().iter().map(|key| self.successor(removals, *key)).collect();
        let last: HashMap<EntryKey, usize> = successors.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let mut gaps: Vec<Gap> = Vec::new();
        let (mut told_to, mut furthest, mut is_open) = (0, None, false);
        // What was shown last; the number of that, and of the text whose stretch reaches furthest, where it is a notice.
        let (mut newest, mut notice, mut told_by) = (None, None, None);
        for (at, key) in successors.into_iter().enumerate() {
            if let Some(removed) = self.working.removed(key) {
                // A text that stood on both sides of messages that had left before it is met twice.
                if !removals.without_text.insert(key) {
                    continue;
                }
                // Within the stretch that one text stands for there is no place for another, but a notice counts what left
                // there; and a late message may stand elsewhere than its place says.
                let is_within = at < told_to && (notice.is_none() || notice != told_by);
                if is_within || furthest > Some(removed.position) {
                    continue;
                }
                match gaps.last_mut().filter(|_| is_open) {
                    Some(gap) => {
                        gap.keys.push(key);
                        gap.tokens += removed.tokens;
                    }
                    None => gaps.push(Gap { place: removed.position, keys: vec![key], tokens: removed.tokens, notice }),
                }
                is_open = true;
            } else if let Some(position) = shown.get(&key).filter(|_| newest != Some(key)) {
                while gaps.last().is_some_and(|gap| gap.place > *position) {
                    gaps.pop();
                    is_open = false;
                }
                (newest, notice) = (Some(key), self.own_notice(key));
                if last[&key] >= told_to {
                    (told_to, told_by) = (last[&key], notice);
                }
                furthest = furthest.max(Some(*position));
                let in_front = gaps.last_mut().filter(|gap| is_open && notice.is_some() && gap.notice.is_none());
                is_open = in_front.map(|gap| gap.notice = notice).is_some();
            }
        }
        gaps
    }

    /// Returns the number of a notice that this compaction wrote; `None` for any other message.
    fn own_notice(&self, key: EntryKey) -> Option<u32> {
        let EntryKey::Synthetic { epoch, index } = key else { return None };
        let own = self.working.synthetics.get(index as usize).filter(|_| epoch == self.context.epoch)?;
        (own.message.origin == Origin::Notice).then_some(index)
    }

    /// Writes the notice of a gap, unless there is no room for it.
    fn mark_gap(&mut self, gap: &Gap, removals: &Removals, most: Tokens) {
        let mut edits: Vec<usize> = gap.keys.iter().filter_map(|key| removals.edits.get(key).copied()).collect();
        edits.sort_unstable();
        edits.dedup();
        let removes = |edit: &usize| {
            let changes = &self.working.edits[*edit].changes;
            changes.iter().filter(|change| removals.without_text.contains(&change.entry())).count()
        };
        // An edit has one text: one whose messages are partly within another stretch has none.
        if edits.iter().map(removes).sum::<usize>() != gap.keys.len() {
            return;
        }
        let messages = gap.keys.iter().map(|key| self.covered_by(*key)).sum();
        let level =
            1 + gap.keys.iter().filter_map(|key| self.working.removed(*key)).map(|it| it.level).max().unwrap_or(0);
        if let Some(notice) = gap.notice {
            return self.add_to_notice(notice, &edits, messages, level, most);
        }
        let saved = |edit: &usize| self.working.edits[*edit].tokens_saved;
        let Some(largest) = edits.iter().copied().max_by_key(|edit| (saved(edit), std::cmp::Reverse(*edit))) else {
            return;
        };
        // A handle that brings back a part would be taken for one that brings back all.
        let handle = self.working.edits[largest].recall.clone().filter(|_| edits.len() == 1);
        let text = wording::notice(
            self.context.language,
            messages,
            handle.as_deref().and_then(|handle| self.context.usable_handle(handle)),
        );
        let sequence = self.working.synthetics.len() as u32;
        let id = self.context.free_id(sequence as usize);
        let message = Message::text(id.0, Role::User, Origin::Notice, text);
        let tokens = count_message(self.context.counter, &message);
        if tokens.total >= saved(&largest) || self.working.total.saturating_add(tokens.total) > most {
            return;
        }
        let position = Position::in_place_of(gap.place, self.context.epoch, sequence);
        for edit in edits {
            self.working.edits[edit].into = Some(sequence);
        }
        self.working.edits[largest].tokens_saved -= tokens.total;
        let slot = self.slot(position, message, tokens, level);
        self.working.add(slot, messages);
    }

    /// Has a notice of this compaction tell of `messages` more, which `edits` removed; unless there is no room for the
    /// longer number. It names no handle then: each edit has its own.
    fn add_to_notice(&mut self, notice: u32, edits: &[usize], messages: usize, level: u32, most: Tokens) {
        let Some(own) = self.working.synthetics.get(notice as usize) else { return };
        let messages = self.working.covers(notice) + messages;
        let text = wording::notice(self.context.language, messages, None);
        let message = Message::text(own.message.id.as_str(), own.message.role, Origin::Notice, text);
        let tokens = count_message(self.context.counter, &message);
        let makers = (0..self.working.edits.len()).filter(|edit| self.working.edits[*edit].into == Some(notice));
        let Some(maker) = makers.max_by_key(|edit| self.working.edits[*edit].tokens_saved) else { return };
        let key = EntryKey::Synthetic { epoch: self.context.epoch, index: notice };
        let Some(before) = self.working.unchanged_tokens(key) else { return };
        let saved = (self.working.edits[maker].tokens_saved + before).saturating_sub(tokens.total);
        let total = self.working.total.saturating_sub(before).saturating_add(tokens.total);
        if saved == 0 || (total > most && tokens.total > before) {
            return;
        }
        self.working.edits[maker].tokens_saved = saved;
        for edit in edits {
            self.working.edits[*edit].into = Some(notice);
        }
        self.working.rewrite(notice, message, tokens, level, messages);
    }

    /// Adds to the reason of each edit whose text did not stay that it left again: the text is not in the result.
    fn mark_evicted_texts(&mut self) {
        let removals = self.removals();
        for number in 0..self.working.edits.len() {
            if self.working.edits[number].kind != EditKind::Summarize {
                continue;
            }
            let mut into = self.working.edits[number].into;
            while let Some(index) = into {
                let text = EntryKey::Synthetic { epoch: self.context.epoch, index };
                let Some(later) = removals.edits.get(&text).map(|edit| &self.working.edits[*edit]) else { break };
                if later.kind == EditKind::Drop {
                    let Reason { code, detail, .. } = &later.reason;
                    let why = if detail.is_empty() { code.to_string() } else { detail.clone() };
                    let own = &mut self.working.edits[number].reason.detail;
                    *own = format!("{own}{}its text left again: {why}", if own.is_empty() { "" } else { "; " });
                    break;
                }
                into = later.into;
            }
        }
    }
}
