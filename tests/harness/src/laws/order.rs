//! Does the view keep the order in which things were said?

use std::collections::HashMap;

use epitome_session::{Change, Entry, EntryKey, Origin, Position};
use epitome_strategy::HostChanges;

use super::Laws;

/// More tokens than a notice takes.
const NOTICE: u32 = 80;

impl Laws<'_> {
    /// The successors of the messages of the view before are in the order of that view: a message as itself, those that
    /// a summary replaced at the summary's place. A summary across a message that stayed would put later text in front
    /// of it. Parts of the system prompt are not part of the conversation.
    pub(super) fn order(&mut self) {
        let Some(epoch) = self.epoch() else { return };
        let mut became: HashMap<EntryKey, EntryKey> = HashMap::new();
        for edit in &epoch.edits {
            let Some(index) = edit.into else { continue };
            let summary = EntryKey::Synthetic { epoch: epoch.id, index };
            let removed = edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. }));
            became.extend(removed.map(|change| (change.entry(), summary)));
        }
        let places: HashMap<EntryKey, usize> =
            self.after.view().iter().enumerate().map(|(place, entry)| (entry.key, place)).collect();
        let mut furthest = 0;
        let mut broken = Vec::new();
        for entry in self.before.view().iter().filter(|entry| !entry.message.is_system_prompt()) {
            let mut key = entry.key;
            while let Some(summary) = became.get(&key) {
                key = *summary;
            }
            // A message that left without a text has no successor.
            let Some(place) = places.get(&key) else { continue };
            if *place < furthest {
                broken.push(format!("{} is told at {place}, what came before it at {furthest}", entry.message.id));
            }
            furthest = furthest.max(*place);
        }
        self.law("order", broken.is_empty(), || broken.join("; "));
    }

    /// Where neighbours left and nothing stands in their place, there was no room for a notice, or it would have been no
    /// shorter than they were.
    pub(super) fn notices(&mut self) {
        let Some(epoch) = self.epoch().filter(|_| self.request.host == HostChanges::Any) else { return };
        let most = match self.report.tokens_after > self.target() {
            true => self.request.limit.max(self.request.target),
            false => self.target(),
        };
        if most.saturating_sub(self.report.tokens_after) < NOTICE {
            return;
        }
        // A late result may stand elsewhere than its place says: a text in its stead could get in front of others.
        if !self.before.view().is_sorted_by_key(|entry| entry.position) {
            return;
        }
        let mut became: HashMap<EntryKey, EntryKey> = HashMap::new();
        let mut saved: HashMap<EntryKey, u32> = HashMap::new();
        for edit in &epoch.edits {
            for removed in edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. })) {
                saved.insert(removed.entry(), edit.tokens_saved);
                if let Some(index) = edit.into {
                    became.insert(removed.entry(), EntryKey::Synthetic { epoch: epoch.id, index });
                }
            }
        }
        let said = self.before.view().iter().filter(|entry| !entry.message.is_system_prompt());
        let successors: Vec<(&Entry, u32, EntryKey)> = said
            .map(|entry| {
                let mut key = entry.key;
                while let Some(text) = became.get(&key) {
                    key = *text;
                }
                (entry, saved.get(&key).copied().unwrap_or(0), key)
            })
            .collect();
        let last: HashMap<EntryKey, usize> =
            successors.iter().enumerate().map(|(at, (_, _, key))| (*key, at)).collect();
        // The first place that what is shown of later messages has: a text that took in what the compaction itself had put
        // in front may stand in front of what it stands for, and nothing in between.
        let mut first_later = vec![None; successors.len()];
        let mut first = None;
        for (at, (_, _, key)) in successors.iter().enumerate().rev() {
            first_later[at] = first;
            if let Some(shown) = self.shown.get(key) {
                first = Some(first.map_or(shown.position, |first: Position| first.min(shown.position)));
            }
        }
        // Within the stretch that one text stands for there is no place for another; but a notice counts all that left there.
        let own = |key: &EntryKey| matches!(key, EntryKey::Synthetic { epoch: it, .. } if *it == epoch.id);
        let mut told_to = 0;
        let mut untold = Vec::new();
        for (at, (entry, saved, key)) in successors.iter().enumerate() {
            if let Some(shown) = self.shown.get(key) {
                if !(own(key) && shown.message.origin == Origin::Notice) {
                    told_to = told_to.max(last[key]);
                }
                continue;
            }
            let has_place = first_later[at].is_none_or(|first| entry.position < first);
            if at >= told_to && has_place && *saved > NOTICE {
                untold.push(format!("{saved} tokens left around {}", entry.message.id));
            }
        }
        self.law("notices", untold.is_empty(), || format!("nothing tells that {}", untold.join(", ")));
    }
}
