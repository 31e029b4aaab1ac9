//! Can the host make the changes?

use std::collections::HashSet;

use epitome_session::{Change, Entry, EntryKey, Origin};
use epitome_strategy::HostChanges;

use super::Laws;
use crate::laws::stays::must_stay;

impl Laws<'_> {
    /// The result has no change that the host cannot make.
    pub(super) fn host(&mut self) {
        match self.request.host {
            HostChanges::Any => {}
            HostChanges::Texts => self.same_messages(),
            HostChanges::Cut => {
                self.same_texts();
                self.one_text();
                self.one_cut();
            }
            HostChanges::Removals => {
                self.same_texts();
                self.one_text();
            }
        }
    }

    /// The same messages in the same order, and nothing but shorter texts in them.
    fn same_messages(&mut self) {
        let keys = |entries: &[Entry]| entries.iter().map(|entry| entry.key).collect::<Vec<_>>();
        let same = keys(self.before.view()) == keys(self.after.view());
        self.law("host", same, || "messages left or came, and the host only takes other texts".to_owned());
        let changes = self.epoch().into_iter().flat_map(|epoch| epoch.changes());
        let texts = changes.into_iter().all(|change| matches!(change, Change::Excerpt { .. } | Change::Trim { .. }));
        self.law("host", texts, || "something else than a text changed".to_owned());
    }

    /// Messages that stay are as they were.
    fn same_texts(&mut self) {
        let before: Vec<&Entry> =
            self.before.view().iter().filter(|entry| self.shown.contains_key(&entry.key)).collect();
        let same = before.iter().all(|entry| self.shown[&entry.key].message == entry.message);
        self.law("host", same, || "a message changed, and the host takes no edited message".to_owned());
    }

    /// At most one new message, a text in place of others, and then no older text beside it.
    fn one_text(&mut self) {
        let known: HashSet<EntryKey> = self.before.view().iter().map(|entry| entry.key).collect();
        let new: Vec<&Entry> = self.after.view().iter().filter(|entry| !known.contains(&entry.key)).collect();
        let is_text = |entry: &Entry| matches!(entry.message.origin, Origin::Summary | Origin::Notice);
        let is_made = |entry: &&Entry| matches!(entry.key, EntryKey::Synthetic { .. }) && is_text(entry);
        let texts = self.after.view().iter().filter(is_made).count();
        let fine = new.is_empty() || new.len() == 1 && is_text(new[0]) && texts == 1;
        self.law("host", fine, || format!("{} new messages and {texts} texts, and the host takes one text", new.len()));
    }

    /// What left is one run of neighbours, with one text in its place; what stands before it has to stay, or is in front
    /// of a task that has to.
    fn one_cut(&mut self) {
        let view = self.before.view();
        let left: Vec<usize> = (0..view.len()).filter(|at| !self.shown.contains_key(&view[*at].key)).collect();
        let (Some(first), Some(last)) = (left.first().copied(), left.last().copied()) else { return };
        self.law("host", last - first + 1 == left.len(), || "what left is not one run of neighbours".to_owned());
        let known: HashSet<EntryKey> = view.iter().map(|entry| entry.key).collect();
        let in_place = self.after.view().get(first).is_some_and(|entry| !known.contains(&entry.key));
        self.law("host", in_place, || "no text stands in place of what left".to_owned());
        let stays = must_stay(view, &self.engine.pins, HostChanges::Cut);
        let recent = self.report.recent.map_or(0, |recent| recent.kept as usize);
        let task = view.iter().position(|entry| entry.message.is_typed());
        let task = task.filter(|task| *task < first).unwrap_or(0);
        let free = view[..first].iter().enumerate().skip(task).find(|(at, entry)| {
            let is_recent = at + recent >= view.len();
            !stays.contains_key(&entry.key) && !entry.message.is_system_prompt() && !is_recent
        });
        let free = free.map(|(_, entry)| entry.message.id.clone());
        self.law("host", free.is_none(), || format!("{free:?} stands in front of the cut and could leave"));
    }
}
