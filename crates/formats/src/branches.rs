//! The tree of a recording: agents append only, and a person who goes back begins another branch beside what was said. The
//! live branch, which is what the agent sends, is the way from the newest record to the first.

use std::collections::{BTreeSet, HashMap, HashSet};

use epitome_session::{Message, Session};
use petgraph::graph::{DiGraph, NodeIndex};

/// A place in the conversation.
pub(crate) type Place = NodeIndex<u32>;

/// The places of a recording, and which of them the conversation is at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Branches {
    /// An edge leads from a place to the one in front of it.
    tree: DiGraph<(), ()>,
    /// The newest place on the live branch.
    tip: Option<Place>,
    /// Where each epoch of the journal was made.
    epochs: Vec<Option<Place>>,
    /// The epochs that are undone because their branch was left.
    left: BTreeSet<u32>,
    /// Where messages stand once more, by their ids: behind each compaction of ours.
    copied: Vec<(Place, HashMap<String, Place>)>,
    /// The place in front of the newest compaction of ours.
    bypass: Option<Place>,
}

impl Branches {
    /// The newest place on the live branch.
    pub(crate) fn tip(&self) -> Option<Place> {
        self.tip
    }

    /// A new place behind `parent`; without one it begins the conversation.
    pub(crate) fn add(&mut self, parent: Option<Place>) -> Place {
        let place = self.tree.add_node(());
        if let Some(parent) = parent {
            self.tree.add_edge(place, parent, ());
        }
        place
    }

    /// The conversation continues at `place`, which lies on the live branch.
    pub(crate) fn advance(&mut self, place: Place) {
        self.tip = Some(place);
    }

    /// Whether a message behind `parent` continues the live branch. Linear in the places between the two.
    pub(crate) fn continues_live_branch(&self, parent: Option<Place>) -> bool {
        self.tip.is_none() || self.way_from(parent).any(|place| Some(place) == self.tip)
    }

    /// The place that a record behind `named` follows. An agent at work does not see a compaction that we wrote meanwhile, and
    /// continues what is newest for it: nobody went back.
    pub(crate) fn followed(&self, named: Place) -> Option<Place> {
        if Some(named) == self.bypass { self.tip } else { Some(named) }
    }

    /// The newest place, which is behind `front`, is that of a compaction of ours: copies of the messages that stay follow.
    pub(crate) fn expect_copies(&mut self, front: Option<Place>) {
        self.bypass = front;
        self.copied.extend(self.tip.map(|place| (place, HashMap::new())));
    }

    /// At `place` the message with the id `of` stands once more.
    pub(crate) fn copy(&mut self, of: &str, place: Place) {
        if let Some((_, places)) = self.copied.last_mut() {
            places.insert(of.to_owned(), place);
        }
    }

    /// Epochs that were committed since the last call were made where the conversation is.
    pub(crate) fn note_epochs(&mut self, session: &Session) {
        self.epochs.resize(session.journal().len(), self.tip);
    }

    /// Goes to `place`, that of a record which does not go on from the live branch: what is not on the way to it leaves the
    /// view. `place_of` says where each message was said; one without a place belongs to every branch, and behind a compaction of
    /// ours the place of its copy counts. Linear in the session.
    pub(crate) fn move_to(
        &mut self,
        place: Place,
        session: &mut Session,
        place_of: impl Fn(&Message) -> Option<Place>,
    ) {
        self.note_epochs(session);
        let way: HashSet<Place> = self.way_from(Some(place)).collect();
        let is_on_way = |at: Option<Place>| at.is_none_or(|at| way.contains(&at));
        let copied = self.copied.iter().rev().find(|(compaction, _)| way.contains(compaction));
        let copy_of = |message: &Message| copied?.1.get(message.id.as_str()).copied();
        let place_of = |message: &Message| copy_of(message).or_else(|| place_of(message));
        let on_way: Vec<bool> = session.log().iter().map(|message| is_on_way(place_of(message))).collect();
        self.bypass = None;
        // What a person undid stays undone, whichever branch it is on.
        let holds: Vec<bool> = session
            .journal()
            .iter()
            .zip(&self.epochs)
            .map(|(epoch, at)| is_on_way(*at) && (!epoch.undone || self.left.contains(&epoch.id)))
            .collect();
        for (epoch, holds) in session.journal().iter().zip(&holds) {
            match holds {
                true => self.left.remove(&epoch.id),
                false => !epoch.undone && self.left.insert(epoch.id),
            };
        }
        session.switch_branch(|epoch| holds[epoch.id as usize], |index| on_way[index as usize]);
        // What was left is taken back for those who go on from here, and only for them.
        self.tip = Some(place);
        self.note_epochs(session);
    }

    /// The places from `place` to the beginning.
    fn way_from(&self, place: Option<Place>) -> impl Iterator<Item = Place> {
        std::iter::successors(place, |place| self.tree.neighbors(*place).next())
    }
}
