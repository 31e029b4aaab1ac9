//! A compaction of Codex' own: the history that replaces the view.

use epitome_session::{Entry, Message, Origin, Role, Session, pair};

use crate::json::Object;
use crate::openai_responses::blocks as responses;
use crate::openai_responses::group::Grouper;

/// What a `compacted` record puts in place of the view of `session`: its replacement history, or in early versions the
/// users' messages with the summary behind them.
pub(super) fn wanted(payload: &Object<'_>, session: &Session) -> Vec<Message> {
    if let Some(items) = payload.list("replacement_history") {
        return replacement(&items);
    }
    let users = session.view().iter().filter(|entry| stays_in_early_versions(entry));
    let mut wanted: Vec<Message> = users.map(|entry| Message::clone(&entry.message)).collect();
    let text = payload.text("message").unwrap_or_default();
    wanted.push(Message::text("", Role::User, Origin::Summary, &*text));
    wanted
}

fn stays_in_early_versions(entry: &Entry) -> bool {
    matches!((entry.message.role, entry.message.origin), (Role::User, Origin::Typed | Origin::Injected))
}

/// The messages of a replacement history.
fn replacement(items: &[&str]) -> Vec<Message> {
    let mut grouper = Grouper::default();
    for json in items {
        grouper.add(responses::item(json), 0, None, None);
    }
    let mut messages = grouper.finish();
    messages.iter_mut().for_each(|message| message.records.clear());
    pair(&mut messages);
    messages
}
