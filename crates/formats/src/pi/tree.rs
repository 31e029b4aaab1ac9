//! The tree of a session's entries.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Message, Session};

use crate::agent_file::mark::FIELD;
use crate::branches::{Branches, Place};
use crate::json::Object;

/// Where the entries of a session stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    branches: Branches,
    /// The place of each entry, by its number; the session's head has none.
    places: Vec<Option<Place>>,
    /// The number and the place of each entry, by its id: a copy has the number of the entry that it is a copy of.
    by_id: HashMap<Arc<str>, (usize, Place)>,
    newest_id: Option<Arc<str>>,
    /// Whether an entry named the one in front of it.
    is_linked: bool,
    /// The place in front of the newest entry.
    front: Option<Place>,
}

impl Tree {
    /// The number of the newest entry.
    pub(super) fn newest(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    /// The number of an entry.
    pub(super) fn number(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).map(|(number, _)| *number)
    }

    /// The session's head takes a number.
    pub(super) fn pass_over(&mut self) {
        self.places.push(None);
    }

    /// Enters an entry, which is the newest of the live branch. Linear in the session where it does not go on from the entry
    /// in front of it, whatever stands between the two. `number_of` says which entry a message was read from.
    pub(super) fn enter(
        &mut self,
        entry: &Object<'_>,
        session: &mut Session,
        number_of: impl Fn(&Message) -> Option<usize>,
    ) {
        // Where no entry names another one, the file has no tree.
        let begins = self.is_linked && entry.raw("parentId") == Some("null") && entry.has("id");
        let known = entry.text("parentId").and_then(|id| Some(self.by_id.get(&*id)?.1));
        self.is_linked |= known.is_some();
        // What we wrote belongs where the conversation is, also behind what Pi wrote meanwhile.
        let known =
            if entry.has(FIELD) { self.branches.tip() } else { known.and_then(|it| self.branches.followed(it)) };
        // A parent that is not in the file says nothing.
        let parent = known.or_else(|| self.branches.tip().filter(|_| !begins));
        let is_next = parent == self.branches.tip();
        let place = self.branches.add(parent);
        self.front = parent;
        self.places.push(Some(place));
        self.newest_id = entry.text("id").map(|id| Arc::from(&*id));
        if let Some(id) = &self.newest_id {
            self.by_id.insert(Arc::clone(id), (self.places.len() - 1, place));
        }
        if is_next {
            self.branches.note_epochs(session);
            self.branches.advance(place);
            return;
        }
        let places = &self.places;
        let place_of = |message: &Message| *places.get(number_of(message)?)?;
        self.branches.move_to(place, session, place_of);
    }

    /// The newest entry is a compaction of our own, and copies follow.
    pub(super) fn expect_copies(&mut self) {
        self.branches.expect_copies(self.front);
    }

    /// The newest entry is a copy of the one with the id `of`.
    pub(super) fn copy(&mut self, of: Option<&str>) {
        let (Some(of), Some(place)) = (of, self.branches.tip()) else { return };
        self.branches.copy(of, place);
        let Some(number) = self.number(of) else { return };
        if let Some(entry) = self.newest_id.as_ref().and_then(|id| self.by_id.get_mut(id)) {
            entry.0 = number;
        }
    }
}
