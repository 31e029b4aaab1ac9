//! The tree of a session: a record names the one in front of it (`parentUuid`), and the agent sends the way from the newest
//! record to the first. An answer of the API is spread over several records, and each call's result stands beside the
//! records of the other calls: all these are one place.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Message, Session};

use crate::branches::{Branches, Place};
use crate::json::{self, Object};

/// Where the records of a session stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    branches: Branches,
    by_uuid: HashMap<Arc<str>, Place>,
    /// Where the model made each call.
    calls: HashMap<Arc<str>, Place>,
    /// Where each answer of the API stands.
    answers: HashMap<Arc<str>, Place>,
    /// Whether a message named the record in front of it.
    is_linked: bool,
}

/// What a record is in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message, which says where the conversation continues.
    Message,
    /// Written by a compaction where the conversation is.
    Compaction,
    Other,
}

/// A record's place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entered {
    pub(super) place: Place,
    /// Whether it continues the live branch; else the conversation went back.
    pub(super) is_on_live_branch: bool,
}

impl Tree {
    pub(super) fn tip(&self) -> Option<Place> {
        self.branches.tip()
    }

    /// Enters a record. Linear in the places between the one in front of it and the live branch's newest.
    pub(super) fn enter(&mut self, uuid: &Arc<str>, record: &Object<'_>, kind: Kind) -> Entered {
        let message = record.object("message").unwrap_or_default();
        let answer = message.text("id").filter(|_| record.text("type").as_deref() == Some("assistant"));
        let (calls, answered) = calls_in(&message);
        let same = answer.as_deref().and_then(|id| self.answers.get(id));
        let same = same.or_else(|| answered.iter().find_map(|id| self.calls.get(&**id))).copied();
        let entered = self.behind_parent(record, kind, same);
        self.by_uuid.insert(Arc::clone(uuid), entered.place);
        if let Some(id) = answer {
            self.answers.entry(Arc::from(&*id)).or_insert(entered.place);
        }
        self.calls.extend(calls.into_iter().map(|id| (id, entered.place)));
        entered
    }

    /// `same`: the place of what the record is a part of.
    fn behind_parent(&mut self, record: &Object<'_>, kind: Kind, same: Option<Place>) -> Entered {
        let name = |field: &str| record.text(field).filter(|uuid| !uuid.is_empty());
        let named = name("parentUuid").or_else(|| name("logicalParentUuid"));
        // The first prompt was edited; but where no message names another record, the file has no tree.
        let begins = self.is_linked && record.raw("parentUuid") == Some("null") && named.is_none();
        // A parent in another file says nothing.
        let known = named.and_then(|uuid| self.by_uuid.get(&*uuid)).copied();
        self.is_linked |= known.is_some() && kind == Kind::Message;
        let known = known.and_then(|place| self.branches.followed(place));
        let parent = known.or_else(|| self.tip().filter(|_| !begins || kind != Kind::Message));
        let is_on_live_branch = self.branches.continues_live_branch(parent);
        // A part that continues something else is a place of its own: an answer may go on behind what was said meanwhile.
        if let Some(place) = same.filter(|same| !is_on_live_branch || Some(*same) == self.tip()) {
            return Entered { place, is_on_live_branch: true };
        }
        let parent = if is_on_live_branch || kind == Kind::Message { parent } else { self.tip() };
        Entered { place: self.branches.add(parent), is_on_live_branch: is_on_live_branch || kind != Kind::Message }
    }

    /// The conversation continues at `place`. Epochs up to here were made in front of it.
    pub(super) fn advance(&mut self, place: Place, session: &Session) {
        self.branches.note_epochs(session);
        if self.branches.continues_live_branch(Some(place)) {
            self.branches.advance(place);
        }
    }

    /// Our own compaction stands at `place`, and the copies of what stays follow.
    pub(super) fn advance_to_copies(&mut self, place: Place, session: &Session) {
        let front = self.tip();
        self.advance(place, session);
        self.branches.expect_copies(front);
    }

    /// See [`Branches::copy`].
    pub(super) fn copy(&mut self, of: &str, place: Place) {
        self.branches.copy(of, place);
    }

    /// What follows a record that is written once more, or that stays through a compaction, follows the newest place.
    pub(super) fn bring_forward(&mut self, uuid: &str) {
        if let (Some(place), Some(tip)) = (self.by_uuid.get_mut(uuid), self.branches.tip()) {
            *place = tip;
        }
    }

    /// See [`Branches::move_to`].
    pub(super) fn move_to(
        &mut self,
        place: Place,
        session: &mut Session,
        place_of: impl Fn(&Message) -> Option<Place>,
    ) {
        self.branches.move_to(place, session, place_of);
    }
}

/// The ids of the calls in a message, and those of the calls that it answers.
fn calls_in(message: &Object<'_>) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
    let (mut calls, mut answered) = (Vec::new(), Vec::new());
    for block in message.list("content").unwrap_or_default().into_iter().filter_map(Object::parse) {
        let (list, field) = match &*block.text("type").unwrap_or_default() {
            "tool_use" => (&mut calls, "id"),
            "tool_result" => (&mut answered, "tool_use_id"),
            _ => continue,
        };
        list.extend(block.get(field).and_then(json::string).map(|id| Arc::from(&*id)));
    }
    (calls, answered)
}
