//! Is the room used?

use std::collections::{HashMap, HashSet};

use epitome_session::{Change, EntryKey, Origin, UnitKind, units};
use epitome_strategy::{HostChanges, Lossiness, TaskKind};

use super::Laws;

/// One in so many tokens of the target may stay free for notices.
const NOTICES: u32 = 32;

impl Laws<'_> {
    /// Where something left, no unit and no text that left would still fit whole. Exceptions: what no plan took out
    /// (repairs, pictures that the provider takes no more of, thinking, what could not fit from the start), what a text tells, or one that left again, and what stands
    /// within the stretch that a summary stands for, or stood for before it left.
    pub(super) fn room(&mut self) {
        let target = self.target();
        let Some(epoch) = self.epoch().filter(|_| self.engine.refill && self.request.host == HostChanges::Any) else {
            return;
        };
        let view = self.before.view();
        let is_plain = self.report.repaired.is_none() && self.request.memories.is_empty();
        if self.report.tokens_after > target || !is_plain || !view.is_sorted_by_key(|entry| entry.position) {
            return;
        }
        // Notices come after the step, and where they take the place of others the view becomes smaller.
        let stood =
            self.report.steps.iter().rfind(|step| &*step.strategy != "notices").map_or(0, |step| step.tokens_after);
        let room = target.saturating_sub(self.report.tokens_after.max(stood)).saturating_sub(target / NOTICES);
        let text = |index: u32| EntryKey::Synthetic { epoch: epoch.id, index };
        let is_summary = |index: u32| epoch.synthetics[index as usize].message.origin == Origin::Summary;
        let mut untold: HashSet<EntryKey> = HashSet::new();
        let mut became: HashMap<EntryKey, EntryKey> = HashMap::new();
        let mut cut: Vec<(EntryKey, u32)> = Vec::new();
        for edit in &epoch.edits {
            let is_planned = !["repair", "by-hand", "pictures", "thinking", "oversize"].contains(&&*edit.strategy);
            for change in &edit.changes {
                match change {
                    Change::Remove { entry } => {
                        became.extend(edit.into.map(|into| (*entry, text(into))));
                        if is_planned && edit.into.is_none_or(|into| !is_summary(into)) {
                            untold.insert(*entry);
                        }
                    }
                    // The task yields before anything is planned, and so do instructions, with what stands beside them.
                    Change::Excerpt { entry, block, .. } | Change::Trim { entry, block, .. }
                        if is_planned
                            && !["message-over-budget", "rules-first", "beside-rules"]
                                .contains(&&*edit.reason.code) =>
                    {
                        cut.push((*entry, *block));
                    }
                    Change::Excerpt { .. } | Change::Trim { .. } | Change::Strip { .. } => {}
                }
            }
        }
        let mut stretches: HashMap<EntryKey, (usize, usize)> = HashMap::new();
        for (at, entry) in view.iter().enumerate() {
            let mut key = entry.key;
            while let Some(EntryKey::Synthetic { index, .. }) = became.get(&key).copied() {
                key = text(index);
                if is_summary(index) {
                    stretches.entry(key).or_insert((at, at)).1 = at;
                }
            }
        }
        let is_told = |at: usize| stretches.values().any(|(first, last)| (*first..=*last).contains(&at));
        for unit in units(view) {
            let gone = unit.closed
                && unit.kind != UnitKind::Orphan
                && unit.entries.clone().all(|at| untold.contains(&view[at].key) && !is_told(at));
            let tokens: u32 = unit.entries.clone().map(|at| self.count(&view[at].message).total).sum();
            self.law("room", !gone || tokens == 0 || tokens > room, || {
                format!("{} of {tokens} tokens would fit into the {room} left", view[unit.entries.start].message.id)
            });
        }
        // What the context has elsewhere stays away, whoever cut it again.
        let own = TaskKind::ALL.iter().map(|kind| self.engine.chains.chain(*kind));
        let chains = own.chain(self.engine.chains.later.values()).chain(&self.request.chain);
        let metas = chains.flat_map(|chain| &chain.0).map(|strategy| strategy.meta());
        let redundant: HashSet<&str> =
            metas.filter(|meta| meta.lossiness == Lossiness::Redundant).map(|meta| meta.id).collect();
        let elsewhere = epoch.edits.iter().filter(|edit| redundant.contains(&*edit.strategy));
        let elsewhere: HashSet<(EntryKey, u32)> =
            elsewhere.flat_map(|edit| &edit.changes).filter_map(cut_block).collect();
        for (key, block) in cut.into_iter().filter(|cut| !elsewhere.contains(cut)) {
            let before = view.iter().find(|entry| entry.key == key);
            let Some((before, after)) = before.zip(self.shown.get(&key).copied()) else { continue };
            if before.message.role != after.message.role {
                continue; // a result whose call has left
            }
            let whole = self.count(&before.message).blocks[block as usize];
            let more = whole.saturating_sub(self.count(&after.message).blocks[block as usize]);
            self.law("room", more == 0 || more > room, || {
                format!("{more} more tokens of {} would fit into the {room} left", before.message.id)
            });
        }
    }
}

/// The block that a change cuts.
fn cut_block(change: &Change) -> Option<(EntryKey, u32)> {
    match change {
        Change::Excerpt { entry, block, .. } | Change::Trim { entry, block, .. } => Some((*entry, *block)),
        Change::Remove { .. } | Change::Strip { .. } => None,
    }
}
