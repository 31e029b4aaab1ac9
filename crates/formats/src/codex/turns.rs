//! The user turns of a rollout: a rollback takes the newest of them out of the context, with all that was done in them, so
//! that a compaction made there is undone. Codex does the same when it resumes: `session/rollout_reconstruction.rs` and
//! `context_manager/history.rs` of its core (0.169).

use epitome_session::{Message, Origin, Role, Session};

use crate::branches::{Branches, Place};
use crate::openai_responses::blocks::ResponsesItem;

/// The turns on the live branch.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    branches: Branches,
    /// The place in front of the newest one.
    front: Option<Place>,
    /// The place in front of each user turn.
    fronts: Vec<Place>,
    /// Whether the newest place holds nothing but context yet: what Codex tells the model in front of a turn belongs to it.
    is_fresh: bool,
}

impl Turns {
    /// Where the conversation is; `None` in front of the first turn, which no rollback reaches.
    pub(super) fn place(&self) -> Option<Place> {
        self.branches.tip()
    }

    /// A turn begins here.
    pub(super) fn begin(&mut self, session: &Session) {
        self.branches.note_epochs(session);
        let front = self.branches.tip().unwrap_or_else(|| self.branches.add(None));
        let place = self.branches.add(Some(front));
        self.branches.advance(place);
        (self.front, self.is_fresh) = (Some(front), true);
    }

    /// An item comes: what a person or another agent says is a user turn. A rollback leaves what is in front of the first.
    pub(super) fn add_item(&mut self, item: &ResponsesItem, session: &Session) {
        let author = match item {
            ResponsesItem::Message(message) => Some((message.role, message.origin)),
            ResponsesItem::Model(_) | ResponsesItem::Answered(..) => None,
        };
        match author {
            Some((Role::User, Origin::Typed | Origin::ToolOutput)) => {
                if !self.is_fresh || self.fronts.is_empty() {
                    self.begin(session);
                }
                self.fronts.extend(self.front);
                self.is_fresh = false;
            }
            Some((Role::User, Origin::Injected) | (Role::System, _)) if !self.is_fresh => self.begin(session),
            Some((Role::User, Origin::Injected) | (Role::System, _)) => {}
            _ => self.is_fresh = false,
        }
    }

    /// The newest `count` user turns are taken back. Linear in the session.
    pub(super) fn roll_back(
        &mut self,
        count: usize,
        session: &mut Session,
        place_of: impl Fn(&Message) -> Option<Place>,
    ) {
        let kept = self.fronts.len().saturating_sub(count);
        let Some(place) = self.fronts.get(kept).copied() else { return };
        self.fronts.truncate(kept);
        self.branches.move_to(place, session, place_of);
        self.is_fresh = false;
    }
}
