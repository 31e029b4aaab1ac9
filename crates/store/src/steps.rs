//! The steps by which a session came about.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Epoch, Message, Session};
use epitome_strategy::ArchivedContent;

use crate::archive::SessionArchive;
use crate::checkpoint::Checkpoint;

/// Items of an archive with their handles.
pub(crate) type Items<'a> = Vec<(&'a Arc<str>, &'a ArchivedContent)>;

/// One change of a session.
#[derive(Debug)]
pub(crate) enum SessionChange<'a> {
    Message(&'a Arc<Message>),
    /// An epoch as it was when it was committed, with the items archived for it.
    Compaction(Cow<'a, Epoch>, Items<'a>),
    Undo(u32),
}

/// The steps that the session has gone since `before`, in their order, each epoch with its items. An epoch that was undone
/// is undone directly behind its commit: a session does not tell when it was.
pub(crate) fn steps<'a>(
    session: &'a Session,
    mut items: HashMap<u32, Items<'a>>,
    before: &Checkpoint,
) -> Vec<SessionChange<'a>> {
    let mut steps = Vec::new();
    let mut log = before.new_messages(session).iter();
    let mut pushed = before.messages;
    for epoch in before.new_epochs(session) {
        for message in log.by_ref().take((epoch.log_length as usize).saturating_sub(pushed)) {
            steps.push(SessionChange::Message(message));
            pushed += 1;
        }
        let items = items.remove(&epoch.id).unwrap_or_default();
        if epoch.undone {
            let committed = Epoch { undone: false, ..epoch.clone() };
            steps.push(SessionChange::Compaction(Cow::Owned(committed), items));
            // Later epochs, themselves undone, may depend on it: behind them it could not be undone any more.
            steps.push(SessionChange::Undo(epoch.id));
        } else {
            steps.push(SessionChange::Compaction(Cow::Borrowed(epoch), items));
        }
    }
    steps.extend(log.map(SessionChange::Message));
    steps
}

/// The items of an archive by the epoch that first names each, the last one for those that none names.
pub(crate) fn items_by_epoch<'a>(session: &Session, archive: &'a SessionArchive) -> HashMap<u32, Items<'a>> {
    let mut named: HashMap<&Arc<str>, u32> = HashMap::new();
    for epoch in session.journal() {
        for handle in epoch.edits.iter().filter_map(|edit| edit.recall.as_ref()) {
            named.entry(handle).or_insert(epoch.id);
        }
    }
    let last = session.next_epoch().saturating_sub(1);
    let mut by_epoch: HashMap<u32, Items<'a>> = HashMap::new();
    for (handle, item) in archive.items() {
        by_epoch.entry(named.get(handle).copied().unwrap_or(last)).or_default().push((handle, item));
    }
    by_epoch
}
