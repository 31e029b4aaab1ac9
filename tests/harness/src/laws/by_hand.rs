//! Does what a person keeps stay, and does what a person drops leave?

use std::collections::HashSet;

use epitome_session::{Change, EntryKey, MessageRange, units};
use epitome_strategy::{Archive, ArchivedContent};

use super::stays::must_stay;
use super::{Laws, is_blank};

impl Laws<'_> {
    /// What is kept by hand is shown as it was; what is dropped by hand left into the archive as it was recorded, or the
    /// report says why it stays. Nothing else leaves by hand but what belongs to the same step.
    pub(super) fn by_hand(&mut self) {
        let view = self.before.view();
        let protected = must_stay(view, &self.engine.pins, self.request.host);
        // An empty message, and a result that answers no call, leave with the repair.
        for entry in view.iter().filter(|entry| entry.is_kept && protected.contains_key(&entry.key)) {
            let same = self.shown.get(&entry.key).is_some_and(|shown| shown.message == entry.message);
            self.law("by-hand", same, || format!("{} was kept by hand, and changed or left", entry.message.id));
        }
        let Some(epoch) = self.epoch().filter(|_| !self.request.drop.is_empty()) else { return };
        let number = |key: EntryKey| match key {
            EntryKey::Log(number) => Some(number),
            EntryKey::Synthetic { .. } => None,
        };
        let mut left = HashSet::new();
        for edit in epoch.edits.iter().filter(|edit| &*edit.strategy == "by-hand") {
            let archived = edit.recall.as_deref().and_then(|handle| self.archive.get(handle).ok().flatten());
            let whole = match &archived {
                Some(ArchivedContent::Messages(messages)) => messages.as_slice(),
                _ => &[],
            };
            for key in edit.changes.iter().map(Change::entry) {
                left.insert(key);
                let Some(recorded) = view.iter().find(|entry| entry.key == key).map(|entry| &entry.original) else {
                    continue; // an answer that the repair wrote
                };
                self.law("by-hand", whole.contains(recorded) || is_blank(recorded), || {
                    format!("{} left by hand and cannot be recalled", recorded.id)
                });
            }
        }
        let told = self.report.by_hand.clone().unwrap_or_default();
        let stayed: Vec<MessageRange> = told.stayed.iter().map(|stayed| stayed.messages).collect();
        let is_told = |ranges: &[MessageRange], key| {
            number(key).is_none_or(|number| ranges.iter().any(|range| range.contains(number)))
        };
        for unit in units(view) {
            let keys: Vec<EntryKey> = view[unit.entries.clone()].iter().map(|entry| entry.key).collect();
            let named = |key: &EntryKey| {
                number(*key).is_some_and(|number| self.request.drop.iter().any(|range| range.contains(number)))
            };
            let is_named = keys.iter().any(named);
            for (entry, key) in view[unit.entries.clone()].iter().zip(&keys) {
                let id = &entry.message.id;
                let has_left = left.contains(key);
                self.law("by-hand", !has_left || !protected.contains_key(key), || format!("{id} must stay"));
                let is_shown = self.shown.contains_key(key);
                let explained = is_told(&stayed, *key);
                self.law("by-hand", !is_named || !is_shown || explained, || format!("{id} was dropped and is shown"));
                let counted = is_told(&told.dropped, *key);
                self.law("by-hand", has_left == counted || number(*key).is_none(), || {
                    format!("{id} left by hand: {has_left}, told: {counted}")
                });
            }
        }
    }
}
