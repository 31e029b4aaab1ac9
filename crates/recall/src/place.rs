//! Where a passage is now: in the context, or under a handle.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Change, Entry, EntryKey, Session};

use crate::page::{Page, Part};

impl Page {
    /// Tells of each passage whether the session's context still holds all of it, and the handle under which what left can
    /// be recalled. The session is the one that was indexed. Linear in its view and its journal.
    pub fn locate(&mut self, session: &Session) {
        let places = Places::of(session);
        for passage in &mut self.passages {
            passage.in_context = Some(passage.parts.iter().all(|part| places.holds(part)));
            // That of the message which the passage is named after, before that of its neighbours.
            let (own, others): (Vec<&Part>, Vec<&Part>) =
                passage.parts.iter().partition(|part| part.message == passage.number);
            passage.handle = own.into_iter().chain(others).find_map(|part| places.handle(part));
        }
    }
}

/// What the view shows of the log, and what the journal says of the rest.
struct Places<'a> {
    shown: HashMap<EntryKey, &'a Entry>,
    removed: HashMap<EntryKey, &'a Arc<str>>,
    cut: HashMap<(EntryKey, u32), &'a Arc<str>>,
}

impl<'a> Places<'a> {
    fn of(session: &'a Session) -> Self {
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
                    | Change::Strip { entry, block } => {
                        places.cut.insert((*entry, *block), recall);
                    }
                }
            }
        }
        places
    }

    /// Whether the view shows all of a part.
    fn holds(&self, part: &Part) -> bool {
        let Some(entry) = self.shown.get(&EntryKey::Log(part.message)) else { return false };
        let (shown, recorded) =
            (entry.message.blocks.get(part.block as usize), entry.original.blocks.get(part.block as usize));
        let is_changed = || shown != recorded;
        match (&part.bytes, entry.excerpt(part.block)) {
            (Some(bytes), Some(excerpt)) => excerpt.kept.ranges().iter().any(|kept| is_within(bytes, kept)),
            _ => !is_changed(),
        }
    }

    /// The handle of a part that the view does not show.
    fn handle(&self, part: &Part) -> Option<Arc<str>> {
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
