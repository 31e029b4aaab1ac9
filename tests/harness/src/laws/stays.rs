//! Does everything stay that must?

use std::collections::HashMap;

use epitome_engine::{Outcome, Pins};
use epitome_session::{Content, Entry, EntryKey, Message, Unit, UnitKind, units};
use epitome_strategy::HostChanges;

use super::{Laws, is_blank};

impl Laws<'_> {
    /// Protected messages stay byte-identical, and so do open calls and the newest genuine user message; exactly these
    /// messages have receipts that say so.
    pub(super) fn pins(&mut self) {
        let must_stay = must_stay(self.before.view(), &self.engine.pins, self.request.host);
        for entry in self.before.view() {
            let Some(law) = must_stay.get(&entry.key) else { continue };
            let shown = self.shown.get(&entry.key);
            let same = shown.is_some_and(|shown| shown.message == entry.message);
            let yields = yielding(self.before.view(), &self.engine.pins, self.request.host).contains(&entry.key);
            let yielded = yields && shown.is_some_and(|shown| shown.is_edited()) && self.is_tight(&must_stay);
            self.law(law, same || yielded, || format!("{} changed or left", entry.message.id));
        }
        // The newest messages that the report lists as kept are unchanged.
        let kept = self.report.recent.map_or(0, |recent| recent.kept as usize);
        let recent_from = self.before.view().len().saturating_sub(kept);
        let view = self.before.view();
        // Messages that the engine has to repair are exempt: a result without its call, a call without its result.
        let whole = units(view).into_iter().filter(|unit| unit.closed && unit.kind != UnitKind::Orphan);
        for entry in whole.flat_map(|unit| unit.entries).filter(|at| *at >= recent_from).map(|at| &view[at]) {
            let shown = self.shown.get(&entry.key);
            // No provider accepts thinking behind the first change.
            let said = |message: &Message| {
                let is_said =
                    |block: &&epitome_session::Block| !matches!(block.content, Content::Thinking(_) | Content::Gone);
                message.blocks.iter().filter(is_said).cloned().collect::<Vec<_>>()
            };
            let same = shown.is_some_and(|shown| said(&shown.message) == said(&entry.message));
            let yields = yielding(view, &self.engine.pins, self.request.host).contains(&entry.key);
            let yielded = yields && shown.is_some_and(|shown| shown.is_edited()) && self.is_tight(&must_stay);
            // The message has no content but its thinking.
            let is_white = |block: &epitome_session::Block| matches!(&block.content, Content::Text { text } if text.trim().is_empty());
            let is_silent = is_blank(&entry.message) || said(&entry.message).iter().all(is_white);
            self.law("recent", same || yielded || is_silent, || {
                format!("{} changed or left, and {kept} were to stay", entry.message.id)
            });
        }
        let with_rules = super::instructions::may_have_rules(self.before.view());
        let with_empty = protected_entries(self.before.view(), &self.engine.pins, self.request.host);
        for unit in units(self.before.view()) {
            for position in unit.entries {
                let (entry, receipt) = (&self.before.view()[position], &self.report.messages[position]);
                // Of a call that was never answered, of a marker that no person typed, and where empty messages count
                // as rounds, either may be said.
                let pinned = must_stay.contains_key(&entry.key);
                let either = !unit.closed
                    || position >= recent_from
                    || with_rules.contains(&entry.key)
                    || may_be_marked(&entry.message, &self.engine.pins)
                    || pinned != with_empty.contains_key(&entry.key);
                let fits = match receipt.outcome {
                    Outcome::Pinned => pinned || either,
                    Outcome::Kept => !pinned || either,
                    _ => true,
                };
                self.law("receipts", fits || is_blank(&entry.message), || {
                    format!("{} is {:?}, protected: {pinned}", receipt.id, receipt.outcome)
                });
            }
        }
    }
}

/// The most tokens of a mark in place of a text.
const MARK: u32 = 40;

/// The most tokens that a notice, an opening and stubs of the newest messages cost beside what must stay.
const SLACK: u32 = 200;

impl Laws<'_> {
    /// Whether the messages that must stay, whole, together with those behind the newest user message exceed the limit
    /// or nearly do: then the task and the newest user message may be cut.
    fn is_tight(&self, must_stay: &HashMap<EntryKey, &'static str>) -> bool {
        let view = self.before.view();
        let newest = view.iter().rposition(|entry| entry.message.is_typed()).unwrap_or(0);
        let tokens = |(index, entry): (usize, &Entry)| {
            let tokens = self.ledger_before.entry(entry.key).map_or(0, |tokens| tokens.total);
            match self.request.host {
                _ if index >= newest || must_stay.contains_key(&entry.key) => tokens,
                // The host keeps all of them, if only as marks.
                HostChanges::Texts => tokens.min(MARK * (1 + entry.message.blocks.len() as u32)),
                HostChanges::Any | HostChanges::Cut | HostChanges::Removals => 0,
            }
        };
        let floor: u32 = view.iter().enumerate().map(tokens).sum();
        // Such a host keeps the frames of all calls too, whose arguments leave.
        let slack = if self.request.host == HostChanges::Texts { 2 * SLACK } else { SLACK };
        floor + slack > self.request.limit.max(self.request.target)
    }
}

/// Returns the original task and the newest user message where they may be cut to meet a budget that nothing else
/// meets: where only their place pins them.
fn yielding(recorded: &[Entry], pins: &Pins, host: HostChanges) -> Vec<EntryKey> {
    let entries = repaired(recorded, host);
    let units = units(&entries);
    let task = units.iter().find(|unit| unit.kind == UnitKind::User).filter(|_| pins.original_task);
    let newest = units.iter().rfind(|unit| unit.kind == UnitKind::User);
    let entries = task.into_iter().chain(newest).map(|unit| &entries[unit.entries.start]);
    let is_free = |entry: &&Entry| !entry.is_kept && !entry.message.pinned && !is_marked(&entry.message, pins);
    entries.filter(is_free).map(|entry| entry.key).collect()
}

/// Returns the messages of a view that no compaction may change, with their law. Messages without content leave first,
/// where the host takes repairs: such a message does not start a round, and is neither the task nor the newest step.
pub(super) fn must_stay(recorded: &[Entry], pins: &Pins, host: HostChanges) -> HashMap<EntryKey, &'static str> {
    let mut stays = protected_entries(&repaired(recorded, host), pins, host);
    stays.extend(open_at_end(recorded).map(|key| (key, "open-calls")));
    stays
}

/// Returns a view as repair leaves it, for a host that takes repairs: without its empty messages; one whose call in plain text was answered stays with its outputs. Results
/// that answer no call are left out too: the messages around one may be one step.
fn repaired(recorded: &[Entry], host: HostChanges) -> Vec<Entry> {
    if host != HostChanges::Any {
        return recorded.to_vec();
    }
    let leaves = |unit: &Unit| {
        let message = &recorded[unit.entries.start].message;
        let is_empty = unit.entries.len() == 1 && is_blank(message) && !message.is_system_prompt();
        is_empty || unit.kind == UnitKind::Orphan
    };
    let stays = units(recorded).into_iter().filter(|unit| !leaves(unit));
    stays.flat_map(|unit| recorded[unit.entries].iter().cloned()).collect()
}

/// Returns the messages of the calls for which the end of a view waits.
fn open_at_end(entries: &[Entry]) -> impl Iterator<Item = EntryKey> {
    let last = units(entries).into_iter().rev().find(|unit| unit.kind != UnitKind::System);
    let open = last.filter(|unit| !unit.closed).map(|unit| unit.entries);
    let entries = open.into_iter().flatten().map(|position| &entries[position]);
    entries.filter(|entry| !is_blank(&entry.message)).map(|entry| entry.key)
}

/// Returns the messages that no compaction may change for a view as it is, open calls left out.
fn protected_entries(entries: &[Entry], pins: &Pins, host: HostChanges) -> HashMap<EntryKey, &'static str> {
    let units = units(entries);
    let rounds = units.last().map_or(0, |unit| unit.round);
    let first = units.iter().position(|unit| unit.kind == UnitKind::User);
    let newest = units.iter().rposition(|unit| unit.kind == UnitKind::User);
    // The last step of the conversation may lose parts, even where its round is kept.
    let newest_step = units.iter().rposition(|unit| unit.kind == UnitKind::Step).filter(|step| newest < Some(*step));
    let law = |(index, unit): (usize, &Unit)| {
        let messages = || entries[unit.entries.clone()].iter().map(|entry| &*entry.message);
        let protected_call = |message: &Message| {
            message
                .calls()
                .any(|(_, call)| pins.protected_tools.iter().any(|tool| tool.eq_ignore_ascii_case(&call.name)))
        };
        let recent = pins.last_rounds > 0 && unit.round > 0 && rounds - unit.round < pins.last_rounds;
        match unit.kind {
            UnitKind::System => Some("pins"),
            _ if Some(index) == newest => Some("open-calls"),
            _ if pins.original_task && Some(index) == first => Some("pins"),
            UnitKind::Orphan if host == HostChanges::Any => None, // repair decides
            _ if messages().any(|message| message.pinned || is_marked(message, pins)) => Some("pins"),
            _ if entries[unit.entries.clone()].iter().any(|entry| entry.is_kept) => Some("pins"),
            _ if messages().any(protected_call) => Some("pins"),
            _ if recent && Some(index) != newest_step => Some("pins"),
            _ => None,
        }
    };
    let stays = units.iter().enumerate().filter_map(|(index, unit)| Some((law((index, unit))?, unit)));
    stays.flat_map(|(law, unit)| entries[unit.entries.clone()].iter().map(move |entry| (entry.key, law))).collect()
}

/// Whether a person's message contains a marker.
fn is_marked(message: &Message, pins: &Pins) -> bool {
    message.is_typed() && may_be_marked(message, pins)
}

/// Whether a message contains a marker, by any author: only a person's counts, because a marker may be quoted.
pub(super) fn may_be_marked(message: &Message, pins: &Pins) -> bool {
    let holds = |text: &str| pins.markers.iter().any(|marker| text.contains(marker.as_str()));
    message.blocks.iter().any(|block| matches!(&block.content, Content::Text { text } if holds(text)))
}
