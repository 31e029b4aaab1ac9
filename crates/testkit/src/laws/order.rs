//! Does the view keep the order in which things were said?

use std::collections::HashMap;

use epitome_session::{Change, EntryKey};

use super::Laws;

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
}
