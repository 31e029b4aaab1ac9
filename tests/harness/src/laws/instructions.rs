//! Does what the host loaded as instructions stay?

use std::collections::{HashMap, HashSet};

use epitome_session::{Content, Entry, EntryKey, Origin, UnitKind, units};
use epitome_strategy::{HostChanges, rules_read};

use super::Laws;
use super::stays::must_stay;

/// How the rules of the played sessions begin.
pub(super) const RULES: &str = "# AGENTS.md instructions for ";

/// Tokens by which what must stay may be larger than its messages: notices, openings, marks.
const SLACK: u32 = 240;

impl Laws<'_> {
    /// Of the rules for each folder the newest stay in their place: whole where they take less than a third of what the
    /// target leaves beside everything else that must stay and what people typed, and at least in part wherever the limit has room for that. A host of one cut has no
    /// place for them behind it.
    pub(super) fn instructions(&mut self) {
        if self.request.host == HostChanges::Cut {
            return;
        }
        let view = self.before.view();
        let newest_step = units(view).into_iter().rfind(|unit| unit.kind == UnitKind::Step);
        let must_stay = must_stay(view, &self.engine.pins, self.request.host);
        let tokens = |entry: &Entry| self.ledger_before.entry(entry.key).map_or(0, |tokens| tokens.total);
        let recent_from = view.len().saturating_sub(self.engine.pins.keep_recent as usize);
        let stays = |(at, entry): &(usize, &Entry)| {
            let is_newest = newest_step.as_ref().is_some_and(|step| step.entries.contains(at));
            let is_kept = must_stay.contains_key(&entry.key) || is_newest || *at >= recent_from;
            (is_kept || self.request.host == HostChanges::Texts) && rules_of(entry).is_none()
        };
        let fixed: u32 = view.iter().enumerate().filter(stays).map(|(_, entry)| tokens(entry)).sum();
        let mut newest: HashMap<&str, EntryKey> = HashMap::new();
        newest.extend(view.iter().filter_map(|entry| Some((rules_of(entry)?, entry.key))));
        let all: u32 = view.iter().filter(|entry| newest.values().any(|key| *key == entry.key)).map(tokens).sum();
        let is_typed = |(at, entry): &(usize, &Entry)| entry.message.is_typed() && !stays(&(*at, *entry));
        let typed: u32 = view.iter().enumerate().filter(is_typed).map(|(_, entry)| tokens(entry)).sum();
        let room = self.target().saturating_sub(fixed + SLACK + typed.min(self.target() / 2));
        for entry in view.iter().filter(|entry| newest.values().any(|key| *key == entry.key)) {
            let shown = self.shown.get(&entry.key);
            let is_whole = shown.is_some_and(|shown| shown.message == entry.message);
            let (id, place) = (entry.message.id.clone(), shown.map(|shown| shown.position));
            self.law("instructions", is_whole || all > room / 3, || {
                format!("{id} of {all} tokens is not whole in {room}")
            });
            self.law("instructions", place == Some(entry.position) || room == 0, || {
                format!("{id} left, and {room} were free")
            });
        }
    }
}

/// Messages in which there are rules: loaded by the host, or read where it would load them. Which of them stay is another
/// question: of each source the newest.
pub fn may_have_rules(view: &[Entry]) -> HashSet<EntryKey> {
    let read: HashSet<u32> = rules_read(view).into_iter().map(|at| at.message).collect();
    let loaded = |entry: &Entry| entry.original.blocks.iter().any(|block| !block.instructions.is_empty());
    let steps = units(view)
        .into_iter()
        .filter(|unit| unit.entries.clone().any(|at| read.contains(&(at as u32)) || loaded(&view[at])));
    steps.flat_map(|unit| unit.entries).map(|at| view[at].key).collect()
}

/// The folder whose rules a message is; `None` for any other message.
pub(super) fn rules_of(entry: &Entry) -> Option<&str> {
    let [block] = &*entry.original.blocks else { return None };
    let Content::Text { text } = &block.content else { return None };
    text.strip_prefix(RULES)?.lines().next().filter(|_| entry.original.origin == Origin::Injected)
}
