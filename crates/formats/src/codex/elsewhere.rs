//! Rollouts whose history lies in another file: forks and reverts of sessions.

use epitome_session::{Epoch, Session};

use crate::agent_file::records::objects;
use crate::json::Object;

/// The rollout in which the history in front of this one stands, where a record names one: the end of its file's name
/// (`history_base` of the head, whose `thread_id` is the rollout's and not the thread's; Codex 0.153 and newer), or its path.
pub(super) fn base_of(kind: &str, payload: &Object<'_>) -> Option<String> {
    let name = match kind {
        "session_meta" => payload.object("history_base")?.text("thread_id"),
        "rollout_reference" => payload.text("rollout_path").or_else(|| payload.text("rollout_id")),
        _ => None,
    };
    name.map(std::borrow::Cow::into_owned)
}

/// Whether the view of a session is whole without what was said in another file: a compaction stands in front of it.
pub(super) fn is_whole(session: &Session) -> bool {
    session.journal().iter().any(Epoch::is_compaction)
}

/// The words that tell a person which file has the history, and what to do.
pub(super) fn missing_history(base: &str) -> String {
    format!(
        "what was said in front of it stands in another file of Codex, the rollout `{base}`, and is not read: read that file, or let \
         Codex compact the session (`/compact`), which brings its history into this one"
    )
}

/// Why no compaction can be written into a file, where the agent would lose by it what stands in another.
pub(crate) fn missing_base(bytes: &[u8], session: &Session) -> Option<String> {
    let record = |record: Object<'_>| base_of(&record.text("type")?, &record.object("payload")?);
    objects(bytes).find_map(record).filter(|_| !is_whole(session)).map(|base| missing_history(&base))
}
