//! The decisions for a request whose model cannot look anything up: the same ones, but with texts that name neither
//! handles nor the lookup tool.

use std::collections::HashSet;
use std::sync::Arc;

use epitome::session::heading::without_handles;
use epitome::session::{Change, Content, Epoch, Message, Session, SyntheticMessage};

/// The session with the same compactions, without handles. Linear in the session.
pub(super) fn bare(session: &Session) -> Session {
    let edits = session.journal().iter().flat_map(|epoch| &epoch.edits);
    let handles: HashSet<&str> = edits.filter_map(|edit| edit.recall.as_deref()).collect();
    let is_known = |handle: &str| handles.contains(handle);
    let mut found = Session::with_settings_of(session);
    let mut log = session.log().iter();
    for epoch in session.journal() {
        let behind = (epoch.log_length as usize).saturating_sub(found.log().len());
        for message in log.by_ref().take(behind) {
            found.push(Message::clone(message));
        }
        found.commit(bare_epoch(epoch, &is_known));
    }
    for message in log {
        found.push(Message::clone(message));
    }
    found
}

fn bare_epoch(epoch: &Epoch, is_known: &impl Fn(&str) -> bool) -> Epoch {
    let mut epoch = epoch.clone();
    let text = |text: &mut Arc<str>| *text = Arc::from(without_handles(text, is_known));
    for SyntheticMessage { message, .. } in &mut epoch.synthetics {
        for block in &mut Arc::make_mut(message).blocks {
            if let Content::Text { text: said } = &mut block.content {
                text(said);
            }
        }
    }
    for change in epoch.edits.iter_mut().flat_map(|edit| &mut edit.changes) {
        match change {
            Change::Excerpt { excerpt, .. } => excerpt.marks.iter_mut().chain(&mut excerpt.attachments).for_each(text),
            Change::Trim { arguments, .. } => text(arguments),
            Change::Strip { mark, .. } => mark.iter_mut().for_each(text),
            Change::Remove { .. } => {}
        }
    }
    epoch
}
