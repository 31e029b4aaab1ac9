//! The view while it is being compacted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::{
    AppliedEdit, Block, Change, Content, EditKind, Entry, EntryKey, Message, Origin, Position, Reason, Role, Session,
    SyntheticMessage, Unit, UnitKind, units,
};
use epitome_strategy::{BlockRef, EntryTokens, HostChanges, Protection, Tokens, View};

use crate::context::Context;
use crate::guard::{self, EditRefusal, Guard, Guards, HostChange};
use crate::ledger::is_sent;
use crate::loaded::Loaded;
use crate::protect::{is_pinned, protect_for, protections, share_row};
use crate::report::RecentMessages;
use crate::request::Pins;
use crate::slots::{Slot, Slots};

/// The view while it is being compacted: entries, counts, and the changes so far.
///
/// Within one pass positions are stable: messages that leave are marked, and new ones are held back, until
/// [`Self::settle`].
#[derive(Clone)]
pub(crate) struct WorkingView {
    /// The entries of the view before the compaction, the base for finding the first change.
    before: Arc<[EntryKey]>,
    slots: Slots,
    pub total: Tokens,
    /// The changes that the host can make.
    pub host: HostChanges,
    pub edits: Vec<AppliedEdit>,
    pub synthetics: Vec<SyntheticMessage>,
    /// How many messages of the log each of them represents.
    covers: Vec<usize>,
    /// Where the newest messages that stay whole begin.
    recent_from: Option<Position>,
    /// What the host loaded as instructions.
    loaded: Arc<Loaded>,
    incoming: Vec<Slot>,
    /// What was removed: of the view before, and of the messages that the compaction added.
    removed: HashMap<EntryKey, RemovedMessage>,
    pub touched: HashSet<BlockRef>,
    /// Tokens of the original texts of the blocks that were excerpted.
    pub original_tokens: HashMap<(EntryKey, u32), Tokens>,
}

/// A message that was removed, as it was then.
#[derive(Clone, Copy)]
pub(crate) struct RemovedMessage {
    pub position: Position,
    pub tokens: Tokens,
    pub level: u32,
}

/// The units of a working view and their protection.
pub(crate) struct Layout {
    pub units: Vec<Unit>,
    pub protections: Vec<Protection>,
}

impl Layout {
    /// Returns it with a unit of which parts may leave, and which may not leave whole.
    pub(crate) fn with_cuttable(&self, unit: usize) -> Self {
        let mut protections = self.protections.clone();
        protections[unit] = Protection::NewestStep;
        Self { units: self.units.clone(), protections }
    }

    /// Returns the positions of the messages of units, in order; units that do not exist have none.
    pub(crate) fn positions(&self, units: &[u32]) -> Vec<usize> {
        let mut positions: Vec<usize> = units
            .iter()
            .filter_map(|unit| self.units.get(*unit as usize))
            .flat_map(|unit| unit.entries.clone())
            .collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

impl WorkingView {
    /// Returns the whole view of `session`; `tokens` are those of its entries.
    pub(crate) fn new(session: &Session, tokens: Vec<EntryTokens>, pins: &Pins) -> Self {
        Self::from_session(session, 0, tokens, pins)
    }

    /// Returns the view of `session` from an entry on.
    pub(crate) fn from_session(session: &Session, first: usize, tokens: Vec<EntryTokens>, pins: &Pins) -> Self {
        let total = guard::counting(&tokens);
        let entries = session.view()[first..].to_vec();
        Self {
            before: entries.iter().map(|entry| entry.key).collect(),
            slots: Slots {
                marked: entries.iter().map(|entry| is_pinned(entry, pins)).collect(),
                levels: entries.iter().map(|entry| session.summary_level(entry.key)).collect(),
                gone: vec![false; entries.len()],
                entries,
                tokens,
            },
            total,
            host: HostChanges::Any,
            original_tokens: HashMap::new(),
            recent_from: None,
            loaded: Arc::new(Loaded::read(session.view())),
            edits: Vec::new(),
            synthetics: Vec::new(),
            covers: Vec::new(),
            incoming: Vec::new(),
            removed: HashMap::new(),
            touched: HashSet::new(),
        }
    }

    /// Returns the entries of the view before the compaction, in order.
    pub(crate) fn before(&self) -> &[EntryKey] {
        &self.before
    }

    /// Returns what was removed under a key; `None` for what is shown.
    pub(crate) fn removed(&self, key: EntryKey) -> Option<RemovedMessage> {
        self.removed.get(&key).copied()
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.slots.entries
    }

    pub(crate) fn tokens(&self) -> &[EntryTokens] {
        &self.slots.tokens
    }

    /// Returns the counts of the entries for which `is_wanted` holds. Linear.
    pub(crate) fn counts_where(&self, is_wanted: impl Fn(&Entry) -> bool) -> Vec<(EntryKey, EntryTokens)> {
        let wanted = self.entries().iter().zip(self.tokens()).filter(|(entry, _)| is_wanted(entry));
        wanted.map(|(entry, tokens)| (entry.key, tokens.clone())).collect()
    }

    pub(crate) fn layout(&self, pins: &Pins) -> Layout {
        self.layout_with(pins, self.recent_from)
    }

    /// Protects the newest messages that `pins` ask for: whole units from the newest back, as long as they take no more
    /// than half of what `target` leaves beside the rest that must stay. More would leave no room for earlier messages.
    /// Linear in the view.
    pub(crate) fn keep_recent(&mut self, pins: &Pins, target: Tokens) {
        self.recent_from = None;
        if pins.keep_recent == 0 {
            return;
        }
        let Layout { units, protections } = self.layout(pins);
        let tokens = |unit: &Unit| self.slots.tokens[unit.entries.clone()].iter().map(|it| it.total).sum::<Tokens>();
        let is_free = |it: Protection| it.may_edit() || it.may_leave();
        let fixed = units.iter().zip(&protections).filter(|(_, it)| !is_free(**it));
        let fixed: Tokens = fixed.map(|(unit, _)| tokens(unit)).sum();
        let mut room = target.saturating_sub(fixed) / 2;
        let mut left = pins.keep_recent as usize;
        for (unit, protection) in units.iter().zip(&protections).rev() {
            if left == 0 || matches!(unit.kind, UnitKind::Summary | UnitKind::System) {
                break;
            }
            if is_free(*protection) {
                let Some(rest) = room.checked_sub(tokens(unit)) else { break };
                room = rest;
            }
            left = left.saturating_sub(unit.entries.len());
            self.recent_from = Some(self.slots.entries[unit.entries.start].position);
        }
    }

    /// Protects the messages at some positions as a person keeps them.
    pub(crate) fn keep(&mut self, positions: &HashSet<usize>) {
        for position in positions {
            (self.slots.entries[*position].is_kept, self.slots.marked[*position]) = (true, true);
        }
    }

    /// Ends the protection of the newest messages; returns whether any were protected.
    pub(crate) fn unprotect_recent(&mut self) -> bool {
        self.recent_from.take().is_some()
    }

    /// Returns what the host loaded as instructions, as far as it stays.
    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Ends the protection of instructions; returns whether any were protected.
    pub(crate) fn unprotect_instructions(&mut self) -> bool {
        !std::mem::take(&mut self.loaded).is_empty()
    }

    /// Ends the protection of the instructions of some entries.
    pub(crate) fn unprotect_instructions_of(&mut self, keys: &[EntryKey]) {
        if !keys.is_empty() {
            Arc::make_mut(&mut self.loaded).remove(keys);
        }
    }

    /// Returns the view with the newest messages protected as in another view.
    pub(crate) fn layout_as(&self, pins: &Pins, other: &Self) -> Layout {
        self.layout_with(pins, other.recent_from)
    }

    fn layout_with(&self, pins: &Pins, recent_from: Option<Position>) -> Layout {
        let units = units(self.entries());
        let mut protections = protections(self.entries(), &self.slots.marked, &self.loaded, &units, pins, recent_from);
        protect_for(self.host, self.entries(), &units, &mut protections);
        Layout { units, protections }
    }

    /// Returns how many of the newest messages of the view `start` were to stay whole and do; `None` where none were
    /// to.
    pub(crate) fn recent(&self, start: &Self, pins: &Pins) -> Option<RecentMessages> {
        let asked = Some(pins.keep_recent).filter(|asked| *asked > 0)?;
        let from = self.recent_from;
        let kept = start.entries().iter().rev().take_while(|entry| from.is_some_and(|from| entry.position >= from));
        Some(RecentMessages { asked, kept: kept.count() as u32 })
    }

    pub(crate) fn view<'a>(&'a self, layout: &'a Layout, context: &Context<'a>) -> View<'a> {
        View::new(self.entries(), &layout.units, self.tokens(), &layout.protections, context.counter, context.language)
            .with_summary_levels(&self.slots.levels)
            .with_lexicon(context.lexicon)
            .with_session(context.session)
            .with_handles(context.handles)
            .with_cancellation(context.cancellation)
    }

    /// Whether the host or a marker pinned a message of the unit.
    pub(crate) fn is_marked(&self, unit: &Unit) -> bool {
        self.slots.marked[unit.entries.clone()].contains(&true)
    }

    /// Returns the positions of the messages of `wanted` units, if all of them may leave.
    pub(crate) fn leaving(&self, guards: Guards, layout: &Layout, wanted: &[u32]) -> Result<Vec<usize>, EditRefusal> {
        let mut positions = Vec::new();
        let mut seen = HashSet::new();
        for index in wanted {
            let unit = layout.units.get(*index as usize).ok_or(EditRefusal::NotThere)?;
            check_protection(guards, layout.protections[*index as usize], true)?;
            if guards.on(Guard::Conservation) {
                let gone = unit.entries.clone().any(|position| self.slots.gone[position]);
                guard::conservation(gone || !seen.insert(*index))?;
            }
            positions.extend(unit.entries.clone());
        }
        positions.sort_unstable();
        if positions.is_empty() { Err(EditRefusal::NotThere) } else { Ok(positions) }
    }

    /// Returns the messages at `positions` as they were recorded: a summary is written from the originals and not from
    /// what earlier edits left of them.
    pub(crate) fn recorded_messages(&self, positions: &[usize]) -> Vec<Arc<Message>> {
        positions.iter().map(|position| Arc::clone(&self.entries()[*position].original)).collect()
    }

    /// Returns the tokens of the messages at `positions`.
    pub(crate) fn tokens_of(&self, positions: &[usize]) -> Tokens {
        positions.iter().map(|position| self.tokens()[*position].total).sum()
    }

    /// Refuses `positions` between which a message stays or has come in, unless the guard is off.
    pub(crate) fn check_order(&self, guards: Guards, positions: &[usize]) -> Result<(), EditRefusal> {
        if !guards.on(Guard::Order) {
            return Ok(());
        }
        let incoming = self.incoming.iter().map(|Slot { entry, .. }| (entry.position, &entry.message.id));
        guard::order(self.entries(), positions, |position| self.slots.gone[position], incoming)
    }

    /// Whether no message between those at `positions` stays once those of `leaves` have left; always true with the
    /// guard off.
    pub(crate) fn is_run(&self, guards: Guards, positions: &[usize], leaves: impl Fn(usize) -> bool) -> bool {
        !guards.on(Guard::Order) || guard::order(self.entries(), positions, leaves, []).is_ok()
    }

    /// Splits `positions` (ascending) into runs of neighbours: a message that stays, or one that has come in, is between
    /// two runs. Linear in the view, but for sorting the messages that have come in.
    pub(crate) fn runs<'p>(&self, positions: &'p [usize]) -> Vec<&'p [usize]> {
        let stays =
            |position: usize| !self.slots.gone[position] && !self.entries()[position].message.is_system_prompt();
        let mut incoming: Vec<Position> = self.incoming.iter().map(|slot| slot.entry.position).collect();
        incoming.sort_unstable();
        let has_come = |left: usize, right: usize| {
            let [from, to] = [left, right].map(|at| self.entries()[at].position);
            let next = incoming.partition_point(|position| *position < from);
            right > left + 1 && incoming.get(next).is_some_and(|position| *position < to)
        };
        positions.chunk_by(|left, right| !(left + 1..*right).any(stays) && !has_come(*left, *right)).collect()
    }

    /// Removes the messages at `positions`; returns the changes.
    pub(crate) fn remove(&mut self, positions: &[usize]) -> Vec<Change> {
        self.total -= self.tokens_of(positions).min(self.total);
        let remove = |position: &usize| {
            let Entry { key, position: place, .. } = &self.slots.entries[*position];
            let (tokens, level) = (self.slots.tokens[*position].total, self.slots.levels[*position]);
            self.removed.insert(*key, RemovedMessage { position: *place, tokens, level });
            self.slots.gone[*position] = true;
            Change::Remove { entry: *key }
        };
        positions.iter().map(remove).collect()
    }

    /// Returns the message at a position with its count and state.
    pub(crate) fn slot(&self, at: usize) -> Slot {
        let Slots { entries, tokens, marked, levels, .. } = &self.slots;
        Slot { entry: entries[at].clone(), tokens: tokens[at].clone(), is_marked: marked[at], level: levels[at] }
    }

    /// Shows a message that had left, from the end of the pass on.
    pub(crate) fn restore(&mut self, slot: Slot) {
        self.removed.remove(&slot.entry.key);
        self.total += slot.tokens.total;
        self.incoming.push(slot);
    }

    /// Shows the message at a position in another state.
    pub(crate) fn show(&mut self, at: usize, slot: Slot) {
        self.total = self.total.saturating_sub(self.slots.tokens[at].total).saturating_add(slot.tokens.total);
        (self.slots.entries[at], self.slots.tokens[at]) = (slot.entry, slot.tokens);
    }

    /// Holds a new message of the engine's back until the pass ends; it represents `covers` messages of the log.
    pub(crate) fn add(&mut self, slot: Slot, covers: usize) {
        let Entry { position, message, .. } = &slot.entry;
        self.synthetics.push(SyntheticMessage { position: *position, message: Arc::clone(message) });
        self.covers.push(covers);
        self.total += slot.tokens.total;
        self.incoming.push(slot);
    }

    /// Returns the tokens of a message that is shown and that no edit changed. Linear in the view.
    pub(crate) fn unchanged_tokens(&self, key: EntryKey) -> Option<Tokens> {
        let at = self.entries().iter().position(|entry| entry.key == key)?;
        Arc::ptr_eq(&self.entries()[at].message, &self.entries()[at].original).then(|| self.tokens()[at].total)
    }

    /// Gives a shown message of this compaction another text; it represents `covers` messages of the log then, and is of at
    /// least the level `level`. Linear in the view.
    pub(crate) fn rewrite(&mut self, index: u32, message: Message, tokens: EntryTokens, level: u32, covers: usize) {
        let Some(own) = self.synthetics.get_mut(index as usize) else { return };
        let is_own = |entry: &Entry| {
            matches!(entry.key, EntryKey::Synthetic { index: other, .. } if other == index)
                && Arc::ptr_eq(&entry.original, &own.message)
        };
        let Some(at) = self.slots.entries.iter().position(is_own) else { return };
        let message = Arc::new(message);
        own.message = Arc::clone(&message);
        self.covers[index as usize] = covers;
        self.total = self.total.saturating_sub(self.slots.tokens[at].total).saturating_add(tokens.total);
        let Entry { key, position, .. } = self.slots.entries[at];
        self.slots.entries[at] = Entry::new(key, position, message);
        self.slots.tokens[at] = tokens;
        self.slots.levels[at] = self.slots.levels[at].max(level);
    }

    /// Returns the change that replacing the messages at `positions` by one message is for the host. Linear in the view.
    pub(crate) fn replacement(&self, pins: &Pins, positions: &[usize]) -> HostChange {
        let layout = self.layout(pins);
        let mut free = layout.units.iter().zip(&layout.protections).filter(|(_, it)| it.may_leave());
        let front = free.next().map(|(unit, _)| unit.entries.start);
        let is_text = |entry: &Entry| {
            let origin = entry.message.origin;
            matches!(entry.key, EntryKey::Synthetic { .. }) && matches!(origin, Origin::Summary | Origin::Notice)
        };
        let other = (0..self.entries().len())
            .any(|at| !self.slots.gone[at] && is_text(&self.entries()[at]) && !positions.contains(&at));
        HostChange::Replacement {
            is_at_front: front.is_some() && front == positions.first().copied(),
            is_only_text: !other && self.incoming.is_empty(),
            splits_row: self.splits_row(positions),
        }
    }

    /// Returns the change that removing the messages at `positions` is for the host. Linear in the view.
    pub(crate) fn removal(&self, positions: &[usize]) -> HostChange {
        let leaves: HashSet<usize> = positions.iter().copied().collect();
        let first_role = |stays: &dyn Fn(usize) -> bool| {
            let incoming = self.incoming.iter().map(|slot| &slot.entry);
            let shown = (0..self.entries().len()).filter(|at| !self.slots.gone[*at] && stays(*at));
            let shown = shown.map(|at| &self.entries()[at]).chain(incoming);
            let spoken = shown.filter(|entry| entry.message.role != Role::System);
            spoken.min_by_key(|entry| entry.position).map(|entry| entry.message.role)
        };
        let opens_with_user = |role: Option<Role>| role.is_none_or(|role| role == Role::User);
        let before = opens_with_user(first_role(&|_| true));
        let after = opens_with_user(first_role(&|at| !leaves.contains(&at)));
        HostChange::Removal { opens_with_model: before && !after, splits_row: self.splits_row(positions) }
    }

    /// Whether a message of the host's list holds one of the messages at `positions` (ascending) and one that stays.
    fn splits_row(&self, positions: &[usize]) -> bool {
        let stays = |at: usize| !self.slots.gone[at] && positions.binary_search(&at).is_err();
        let last = self.entries().len().saturating_sub(1);
        positions.iter().any(|at| {
            let [before, next] = [at.saturating_sub(1), (at + 1).min(last)];
            [before, next]
                .into_iter()
                .any(|other| stays(other) && share_row(&self.entries()[*at], &self.entries()[other]))
        })
    }

    /// Returns the level of a summary of the messages at `positions`: one more than the highest of theirs.
    pub(crate) fn level_above(&self, positions: &[usize]) -> u32 {
        1 + positions.iter().map(|position| self.slots.levels[*position]).max().unwrap_or(0)
    }

    /// Returns how many messages of the log the message represents that this compaction added under `index`.
    pub(crate) fn covers(&self, index: u32) -> usize {
        self.covers.get(index as usize).copied().unwrap_or(0)
    }

    /// Changes the block at `at`, which takes `after` tokens from then on, and returns what the message takes less. A message
    /// without content left takes nothing.
    pub(crate) fn change_block(&mut self, at: BlockRef, change: &Change, after: Tokens) -> Tokens {
        let tokens = &mut self.slots.tokens[at.message as usize];
        let block_before = std::mem::replace(&mut tokens.blocks[at.block as usize], after);
        let entry = &mut self.slots.entries[at.message as usize];
        let joints_before = joints(&entry.message);
        entry.apply(change);
        let before = tokens.total;
        let beside = (before + joints(&entry.message)).saturating_sub(block_before + joints_before);
        tokens.total = if is_sent(&entry.message) { beside + after } else { 0 };
        self.total = self.total - before.min(self.total) + tokens.total;
        before.saturating_sub(tokens.total)
    }

    /// Records an edit; the record stays, whatever later edits do to the same messages.
    pub(crate) fn record(&mut self, kind: EditKind, strategy: &str, reason: Reason) -> &mut AppliedEdit {
        let strategy = Arc::from(strategy);
        let edit = AppliedEdit { kind, strategy, reason, recall: None, tokens_saved: 0, changes: vec![], into: None };
        self.edits.push(edit);
        let last = self.edits.len() - 1;
        &mut self.edits[last]
    }

    /// Returns the block at `at`, if it may be edited and no edit of this pass changed it.
    pub(crate) fn editable(&self, guards: Guards, layout: &Layout, at: BlockRef) -> Result<&Block, EditRefusal> {
        let position = at.message as usize;
        let entry = self.entries().get(position).ok_or(EditRefusal::NotThere)?;
        let block = entry.message.blocks.get(at.block as usize).ok_or(EditRefusal::NotThere)?;
        let unit = layout.units.partition_point(|unit| unit.entries.end <= position);
        check_protection(guards, layout.protections[unit], false)?;
        if guards.on(Guard::Conservation) {
            guard::conservation(self.slots.gone[position] || self.touched.contains(&at))?;
        }
        Ok(block)
    }

    /// Ends a pass: marked messages leave, and new ones take their places. Linear in the view.
    pub(crate) fn end_pass(&mut self) {
        self.slots.end_pass(std::mem::take(&mut self.incoming));
        self.touched.clear();
    }

    /// Returns the first position at which it differs from the view before. Linear.
    pub(crate) fn first_change(&self) -> Option<usize> {
        let edited: HashSet<EntryKey> =
            self.edits.iter().flat_map(|edit| &edit.changes).map(|change| change.entry()).collect();
        let differs = |(position, key): (usize, &EntryKey)| {
            let same = self.entries().get(position).is_some_and(|entry| entry.key == *key) && !edited.contains(key);
            (!same).then_some(position)
        };
        let common = self.before.iter().enumerate().find_map(differs);
        common.or_else(|| (self.entries().len() > self.before.len()).then_some(self.before.len()))
    }

    /// Whether anything was changed.
    pub(crate) fn is_untouched(&self) -> bool {
        self.edits.is_empty() && self.synthetics.is_empty()
    }
}

/// Returns the tokens between the texts of a message: a mark is one more of them.
pub(crate) fn joints(message: &Message) -> Tokens {
    let is_text = |block: &&Block| matches!(&block.content, Content::Text { text } if !text.is_empty());
    (message.blocks.iter().filter(is_text).count() as Tokens).saturating_sub(1)
}

/// Refuses an edit of a unit that is open or protected, unless those guards are off.
fn check_protection(guards: Guards, protection: Protection, leaves: bool) -> Result<(), EditRefusal> {
    if guards.on(Guard::OpenCalls) {
        guard::open_calls(protection)?;
    }
    if guards.on(Guard::Pins) {
        guard::pins(protection, leaves)?;
    }
    Ok(())
}
