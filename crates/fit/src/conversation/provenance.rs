//! Which messages of a request the messages of its session come from.

use std::sync::Arc;

use epitome::formats::LoadedFile;
use epitome::session::{EntryKey, Session};

use super::matched_request::MatchedRequest;

/// The changes to the messages of a request's list, by their numbers in it.
#[derive(Debug, Default)]
pub struct Provenance {
    /// The number of messages in the list that this was made for. Those that came later are shown as they came.
    pub messages: usize,
    /// Messages that are shown as they came, in the order in which they are shown.
    pub shown: Vec<usize>,
    /// Messages that are shown with changes, in the same order.
    pub edited: Vec<usize>,
    /// Messages that no one said: the text of each, and why it is there.
    pub added: Vec<Addition>,
    /// The removals, by their handles.
    pub removals: Vec<Removal>,
    /// The message of the list that each message of the session, by its id in reports, is of; those of a system prompt beside
    /// the list are of none.
    pub ids: Vec<(Arc<str>, Option<usize>)>,
}

/// A message in place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The message's text.
    pub text: Arc<str>,
    /// The code of the reason for it; `None` where validity asks for it.
    pub reason: Option<Arc<str>>,
    /// The numbers of the messages that this one replaces.
    pub replaces: Vec<usize>,
}

/// Text that left under one handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The handle.
    pub handle: Arc<str>,
    /// The messages that it is of.
    pub messages: Vec<usize>,
    /// Why it left, for a person.
    pub reason: String,
}

impl Provenance {
    /// The changes to the messages of `incoming`, which was read as `loaded`, in `session`. Linear in the session.
    pub(super) fn new(incoming: &MatchedRequest, loaded: &LoadedFile, session: &Session) -> Self {
        let records = loaded.sessions.first().map(|session| &session.records[..]).unwrap_or_default();
        let number = |record: &u32| {
            let start = records.get(*record as usize)?.start;
            incoming.list.binary_search_by_key(&start, |at| at.start).ok()
        };
        let of_log = |index: u32| -> Vec<usize> {
            session.log().get(index as usize).map_or_else(Vec::new, |it| it.records.iter().filter_map(number).collect())
        };
        let of_key = |key: EntryKey| match key {
            EntryKey::Log(index) => of_log(index),
            EntryKey::Synthetic { .. } => Vec::new(),
        };
        // What an earlier message replaced is replaced by the one that takes its place.
        let behind = |key: EntryKey| -> Vec<usize> {
            session.originals(key).iter().flat_map(|it| it.records.iter().filter_map(number)).collect()
        };
        let mut found = Self { messages: incoming.list.len(), ..Self::default() };
        for entry in session.view() {
            let numbers = of_key(entry.key);
            if entry.is_edited() { found.edited.extend(numbers) } else { found.shown.extend(numbers) }
        }
        for epoch in session.journal() {
            for (number, added) in epoch.synthetics.iter().enumerate() {
                // Several edits may have made room for one notice: the reason is that of the one that took most.
                let into = Some(number as u32);
                let edits = || epoch.edits.iter().filter(move |edit| edit.into == into);
                let edit = edits().max_by_key(|edit| edit.changes.len());
                let replaces = edits().flat_map(|edit| &edit.changes).flat_map(|change| behind(change.entry()));
                found.added.push(Addition {
                    text: added.message.texts().next().cloned().unwrap_or_default(),
                    reason: edit.map(|edit| Arc::from(&*edit.reason.code)),
                    replaces: sorted(replaces.collect()),
                });
            }
            for edit in &epoch.edits {
                let Some(handle) = &edit.recall else { continue };
                let messages = edit.changes.iter().flat_map(|change| of_key(change.entry())).collect();
                found.removals.push(Removal {
                    handle: Arc::clone(handle),
                    messages: sorted(messages),
                    reason: edit.reason.detail.clone(),
                });
            }
        }
        found.ids = session.log().iter().map(|it| (Arc::clone(&it.id.0), it.records.iter().find_map(number))).collect();
        found
    }

    /// Bytes that it takes, near enough.
    pub(super) fn bytes(&self) -> usize {
        let numbers = self.shown.len() + self.edited.len();
        let replaced: usize = self.added.iter().map(|it| it.replaces.len()).sum();
        let removed: usize = self.removals.iter().map(|it| it.messages.len()).sum();
        let reasons: usize = self.removals.iter().map(|it| it.reason.len()).sum();
        let texts: usize = self.added.iter().map(|it| it.text.len()).sum::<usize>() + reasons;
        let ids: usize = self.ids.iter().map(|(id, number)| size_of_val(number) + size_of_val(id) + id.len()).sum();
        (numbers + replaced + removed) * size_of::<usize>()
            + self.added.len() * size_of::<Addition>()
            + self.removals.len() * size_of::<Removal>()
            + texts
            + ids
    }
}

fn sorted(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
