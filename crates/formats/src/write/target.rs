//! A session on its way into a file.

use std::sync::Arc;

use epitome_session::{Entry, EntryKey, Message, Origin, Role, Session};

use crate::LoadedFile;
use crate::render::Source;

/// A session that is to be written, and the file that it was read from.
pub(crate) struct Target<'a> {
    pub(crate) loaded: &'a LoadedFile,
    pub(crate) index: usize,
    /// The session as it was read.
    pub(crate) original: &'a Session,
    pub(crate) session: &'a Session,
    pub(crate) source: &'a Source<'a>,
    /// Whether the view is recorded even if nothing was committed since the file was read.
    pub(crate) again: bool,
}

impl Target<'_> {
    /// Whether the session is as it was read.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.session.log().len() == self.original.log().len() && !self.is_compacted()
    }

    /// Whether the view is to be recorded: epochs were committed or undone since it was read.
    pub(crate) fn is_compacted(&self) -> bool {
        self.again || self.original.journal() != self.session.journal()
    }

    /// The messages that arrived since it was read.
    pub(crate) fn new_messages(&self) -> impl Iterator<Item = Entry> {
        let known = self.original.log().len();
        self.session.full_view().into_iter().filter(move |entry| match entry.key {
            EntryKey::Log(index) => index as usize >= known,
            EntryKey::Synthetic { .. } => false,
        })
    }
}

/// A view with its summaries on the user's side: agents' files have no other place for them.
pub(crate) fn on_users_side(view: &[Entry]) -> Vec<Entry> {
    let moved = |entry: &Entry| match (entry.message.role, entry.message.origin) {
        (Role::System, Origin::Summary | Origin::Notice) => {
            let message = Arc::new(Message { role: Role::User, ..Message::clone(&entry.message) });
            Entry { message, ..entry.clone() }
        }
        _ => entry.clone(),
    };
    view.iter().map(moved).collect()
}

/// Splits a leading summary off a view.
pub(crate) fn split_summary(view: &[Entry]) -> (Option<&Entry>, &[Entry]) {
    match view.split_first() {
        Some((first, rest)) if first.message.origin == Origin::Summary => (Some(first), rest),
        _ => (None, view),
    }
}
