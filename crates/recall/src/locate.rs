//! Finds where a passage is now: in the context, or under a handle.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Change, Entry, EntryKey, Session};

use crate::handle::message_handle;
use crate::page::{Page, PassagePart};

impl Page {
    /// Sets for each passage whether the session's context still contains all of it, what a person took back, and the
    /// handle that recalls what
    /// left: that of the compaction, else that of the message, by which [`find_by_handle`](crate::find_by_handle) finds
    /// it in the session itself (the compactions that agents record have no handles). The session has to be the one
    /// that was indexed. Linear in its view, its journal, and the messages that are named.
    pub fn locate(&mut self, session: &Session) {
        let places = Places::read(session);
        let taken_back = session.taken_back();
        for passage in &mut self.passages {
            passage.in_context = Some(passage.parts.iter().all(|part| places.holds(part)));
            let messages = passage.parts.iter().map(|part| part.message);
            passage.taken_back = messages.filter(|message| taken_back.contains(message)).collect();
            passage.taken_back.dedup();
            // The handle of the message that names the passage precedes that of its neighbours.
            let (own, others): (Vec<&PassagePart>, Vec<&PassagePart>) =
                passage.parts.iter().partition(|part| part.message == passage.number);
            let parts = || own.iter().chain(&others).copied();
            let archived = || parts().find_map(|part| Some((part.message, places.handle(part)?)));
            let message = || {
                let left = parts().find(|part| !places.holds(part))?;
                Some((left.message, message_handle(session.log().get(left.message as usize)?)?))
            };
            (passage.left, passage.handle) = archived().or_else(message).unzip();
        }
    }
}

/// What the view shows of the log, and where the journal says the rest is.
struct Places<'a> {
    shown: HashMap<EntryKey, &'a Entry>,
    removed: HashMap<EntryKey, &'a Arc<str>>,
    cut: HashMap<(EntryKey, u32), &'a Arc<str>>,
}

impl<'a> Places<'a> {
    fn read(session: &'a Session) -> Self {
        let shown = session.view().iter().map(|entry| (entry.key, entry)).collect();
        let mut places = Self { shown, removed: HashMap::new(), cut: HashMap::new() };
        let epochs = session.journal().iter().filter(|epoch| !epoch.undone);
        for edit in epochs.flat_map(|epoch| &epoch.edits) {
            let Some(recall) = &edit.recall else { continue };
            for change in &edit.changes {
                match change {
                    Change::Remove { entry } => {
                        places.removed.insert(*entry, recall);
                    }
                    Change::Excerpt { entry, block, .. }
                    | Change::Trim { entry, block, .. }
                    | Change::Strip { entry, block, .. } => {
                        places.cut.insert((*entry, *block), recall);
                    }
                }
            }
        }
        places
    }

    /// Whether the view shows all of a part.
    fn holds(&self, part: &PassagePart) -> bool {
        let Some(entry) = self.shown.get(&EntryKey::Log(part.message)) else { return false };
        let (shown, recorded) =
            (entry.message.blocks.get(part.block as usize), entry.original.blocks.get(part.block as usize));
        let is_changed = || shown != recorded;
        match (&part.bytes, entry.excerpt(part.block)) {
            (Some(bytes), Some(excerpt)) => excerpt.kept.ranges().iter().any(|kept| is_within(bytes, kept)),
            _ => !is_changed(),
        }
    }

    /// Returns the handle of a part that the view does not show.
    fn handle(&self, part: &PassagePart) -> Option<Arc<str>> {
        let key = EntryKey::Log(part.message);
        if self.holds(part) {
            return None;
        }
        self.removed.get(&key).or_else(|| self.cut.get(&(key, part.block))).map(|handle| Arc::clone(handle))
    }
}

fn is_within(inner: &Range<u32>, outer: &Range<u32>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use epitome_session::{
        AppliedEdit, EditKind, Epoch, Excerpt, KeptRanges, Message, Origin, Reason, Role, Session, Trigger,
    };

    use epitome_strategy::ArchivedContent;

    use crate::handle::{StretchSearch, edit_handle, find_by_handle, find_stretch_by_handle};
    use crate::index::Index;
    use crate::page::Page;
    use crate::query::Query;

    use super::*;

    /// Returns a session of three texts, and an epoch with these changes under the handle `cafe0123`.
    fn session(texts: [&str; 3], changes: Vec<Change>) -> Session {
        session_with_handle(texts, changes, Some("cafe0123"))
    }

    /// Returns the same under any handle, or under none, as agents record their own compactions.
    fn session_with_handle(texts: [&str; 3], changes: Vec<Change>, handle: Option<&str>) -> Session {
        let mut session = Session::new();
        session.extend(texts.map(|text| Message::text("", Role::Assistant, Origin::Model, text)));
        let mut epoch = Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new());
        epoch.edits =
            epoch.edits.into_iter().map(|edit| AppliedEdit { recall: handle.map(Arc::from), ..edit }).collect();
        epoch.edits[0].reason = Reason::new("test", "");
        session.commit(epoch);
        session
    }

    /// Returns of the one passage of 200 characters that contains `word` whether the context contains it, and its
    /// handle.
    fn located(session: &Session, word: &str) -> (Option<bool>, Option<String>) {
        let query = Query { limit: 1, characters: 200, ..Query::new(word) };
        let mut page: Page = Index::build(session).search(&query).unwrap();
        page.locate(session);
        let passage = page.passages.remove(0);
        assert!(passage.text.contains(word), "{}", passage.text);
        (passage.in_context, passage.handle.map(|handle| handle.to_string()))
    }

    #[test]
    fn passages_know_where_they_are() {
        let line = "a line of words that fills the room of a passage and says nothing\n";
        let long = format!("alpha\n{}omega\n", line.repeat(20));
        let texts = ["first", &long, "last"];
        let left = (Some(false), Some("cafe0123".to_owned()));
        let there = (Some(true), None);

        let removed = session(texts, vec![Change::Remove { entry: EntryKey::Log(1) }]);
        assert_eq!(located(&removed, "alpha"), left);
        assert_eq!(located(&session(texts, Vec::new()), "alpha"), there);

        let kept = KeptRanges::new(&long, &[0..800]).unwrap();
        let excerpt = Excerpt { kept, marks: vec!["[…]".into()], attachments: None };
        let cut = session(texts, vec![Change::Excerpt { entry: EntryKey::Log(1), block: 0, excerpt }]);
        assert_eq!(located(&cut, "alpha"), there, "of a cut text the context holds this much");
        assert_eq!(located(&cut, "omega"), left);

        let recorded = session_with_handle(texts, vec![Change::Remove { entry: EntryKey::Log(1) }], None);
        let (in_context, handle) = located(&recorded, "alpha");
        let found = find_by_handle(&recorded, &handle.unwrap()).unwrap();
        let whole = ArchivedContent::Messages(vec![Arc::clone(&recorded.log()[1])]);
        assert_eq!((in_context, &found), (Some(false), &whole));
        let of_edit = |session: &Session| edit_handle(session, &session.journal()[0].edits[0]);
        assert_eq!(
            find_by_handle(&recorded, &of_edit(&recorded).unwrap()),
            Some(whole),
            "by the edit's own handle too"
        );
        assert_eq!(of_edit(&removed).as_deref(), Some("cafe0123"), "the archive's comes first");

        // Without a record of the compaction, by the messages that have the handle together.
        let plain = session(texts, Vec::new());
        let stretch = |range: std::ops::Range<usize>| ArchivedContent::Messages(plain.log()[range].to_vec());
        for range in [0..1, 0..2, 1..3, 2..3] {
            let wanted = stretch(range.clone());
            let handle = epitome_strategy::archive::handles(&wanted).next().unwrap();
            let found = StretchSearch::Found(wanted);
            assert_eq!(find_stretch_by_handle(&plain, &handle, None), found, "{range:?}");
            assert_eq!(find_stretch_by_handle(&plain, &handle, Some(range.start as u32)), found, "{range:?}");
            for elsewhere in [range.start as u32 + 1, 3, u32::MAX] {
                let searched = find_stretch_by_handle(&plain, &handle, Some(elsewhere));
                assert_eq!(searched, StretchSearch::Nowhere, "{range:?} at #{elsewhere}");
            }
        }
        for unknown in ["", "cafe", "cafe0123cafe"] {
            assert_eq!(find_stretch_by_handle(&plain, unknown, None), StretchSearch::Nowhere, "{unknown}");
        }

        let mut undone = removed;
        undone.undo(0).unwrap();
        assert_eq!(located(&undone, "alpha"), there);
    }
}
