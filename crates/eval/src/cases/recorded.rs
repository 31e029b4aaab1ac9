//! Recorded compactions: what the agent itself left in its context, beside ours at the same size.

use epitome::Session;
use epitome::session::{Entry, EpochOrigin, Message, Origin};

use crate::EvalError;
use crate::cases::case::{Case, CaseId, CaseOptions};
use crate::cases::cut::{admitted_message, part_of};

/// A case cut where the agent compacted, and the view that the agent went on with.
#[derive(Debug)]
pub(crate) struct RecordedCase {
    pub(crate) case: Case,
    pub(crate) own: Vec<Entry>,
}

/// The cases of a session's recorded compactions that left a readable summary. Linear in the session for each.
pub(crate) fn cases(
    id: &CaseId,
    format: &str,
    session: &Session,
    options: &CaseOptions,
) -> Result<Vec<RecordedCase>, EvalError> {
    let mut found = Vec::new();
    let mut replayed = Session::new();
    replayed.tools.clone_from(&session.tools);
    for epoch in session.journal().iter().filter(|epoch| !epoch.undone) {
        while replayed.log().len() < (epoch.log_length as usize).min(session.log().len()) {
            replayed.push(Message::clone(&session.log()[replayed.log().len()]));
        }
        replayed.commit(epoch.clone());
        let has_summary = epoch
            .synthetics
            .iter()
            .any(|it| it.message.origin == Origin::Summary && !it.message.plain_text().is_empty());
        if epoch.origin != EpochOrigin::Recorded || !has_summary {
            continue;
        }
        let length = replayed.log().len();
        let bare = session.without_journal();
        let full = bare.view();
        let is_before =
            |entry: &Entry| matches!(entry.key, epitome::session::EntryKey::Log(index) if (index as usize) < length);
        let (before, after): (Vec<&Entry>, Vec<&Entry>) = full.iter().partition(|entry| is_before(entry));
        let admitted = before.iter().filter_map(|entry| admitted_message(entry, options.with_reasoning));
        let prefix = part_of(session, admitted);
        let future: Vec<_> = after.iter().filter_map(|entry| admitted_message(entry, options.with_reasoning)).collect();
        let future: Vec<&Message> = future.iter().map(|message| &**message).collect();
        if future.is_empty() || prefix.view().is_empty() {
            continue;
        }
        let part = Some(format!("compaction {}", found.len() + 1));
        let case = Case::from_prefix(CaseId { part, cut_permille: 0, ..id.clone() }, format, prefix, &future)?;
        let own = replayed.view().iter().filter_map(|entry| without_reasoning(entry, options.with_reasoning)).collect();
        found.push(RecordedCase { case, own });
    }
    Ok(found)
}

/// The entry as the model saw it, reasoning left out as it is on the other side.
fn without_reasoning(entry: &Entry, with_reasoning: bool) -> Option<Entry> {
    let shown = Entry::new(entry.key, entry.position, entry.message.clone());
    if matches!(shown.message.origin, Origin::Summary | Origin::Notice | Origin::Answer) {
        return Some(shown);
    }
    let message = admitted_message(&shown, with_reasoning)?;
    Some(Entry::new(entry.key, entry.position, message))
}
