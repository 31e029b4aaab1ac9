//! Sessions that hold a summary which the agent itself recorded: what becomes of it when its view is compacted again.

use epitome::Session;
use epitome::session::{Entry, Origin};

/// The name of the budget at which such a view is compacted.
pub(crate) const OWN_SUMMARY: &str = "own summary 0.6";
/// That budget as a share of the view.
pub(crate) const OWN_SUMMARY_SHARE: f64 = 0.6;

/// Returns the session at its end, where its view has a summary with text.
pub(crate) fn last_own_view(session: &Session) -> Option<Session> {
    let is_summary = |entry: &Entry| entry.message.origin == Origin::Summary && !entry.message.plain_text().is_empty();
    session.view().iter().any(is_summary).then(|| session.clone())
}
