//! Rollouts whose history lies in another file: forks and reverts of sessions.

use epitome_session::{Epoch, Session};

use crate::FindFile;
use crate::agent_file::records::objects;
use crate::json::Object;
use crate::loaded::LoadedFile;

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

/// The part of another rollout that one goes on from: `history_base` of its head.
struct Base {
    rollout: String,
    /// The ordinal of the first record that is not of it.
    end_ordinal: u64,
    /// The length of the part in bytes.
    length: usize,
}

impl Base {
    /// What the head of a rollout names, where it names something. An end that is not told is in front of everything.
    fn of(rollout: &[u8]) -> Option<Self> {
        let line = rollout.split(|byte| *byte == b'\n').next()?;
        let head = Object::parse(std::str::from_utf8(line).ok()?.trim())?;
        let base = head.object("payload")?.object("history_base")?;
        let end_ordinal = base.number("end_ordinal_exclusive").unwrap_or(0);
        let length = base.number("end_byte_offset").unwrap_or(0);
        Some(Self { rollout: base.text("thread_id").unwrap_or_default().into_owned(), end_ordinal, length })
    }

    /// The records of the part without the rollout's own head, as text. `None` where the part is not whole: Codex refuses such
    /// a rollout.
    fn records(&self, part: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(part).ok().filter(|text| text.ends_with('\n'))?;
        let lines = text.split_inclusive('\n').filter(|line| !line.trim().is_empty());
        let records = lines.map(|line| {
            let record = Object::parse(line.trim())?;
            let is_head = record.text("type").as_deref() == Some("session_meta");
            let is_of_part = record.number::<u64>("ordinal")? < self.end_ordinal;
            is_of_part.then_some(if is_head { "" } else { line })
        });
        records.collect()
    }
}

/// The records of other rollouts that a rollout goes on from, the oldest first. `find` gives the content of the rollout of a
/// name. `None` where the head names none, or one that is not there whole. Codex reads the same (0.171: `rollout_lineage.rs` and
/// `model_context.rs` of codex-rs/thread-store/src/local): of each rollout what is in front of the byte that the next one names,
/// without the heads.
pub(crate) fn inherited_records(rollout: &[u8], find: FindFile<'_>) -> Option<String> {
    let (mut next, mut known, mut parts) = (Some(Base::of(rollout)?), Vec::new(), Vec::new());
    while let Some(base) = next {
        let found = find(&base.rollout).filter(|_| !known.contains(&base.rollout))?;
        let part = found.get(..base.length)?;
        parts.push(base.records(part)?);
        next = Base::of(part);
        known.push(base.rollout);
    }
    parts.reverse();
    Some(parts.concat())
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

/// Why no compaction can be written into a file, where the agent would lose by it what stands in another that was not read
/// along.
pub(crate) fn missing_base(loaded: &LoadedFile, session: &Session) -> Option<String> {
    let inherited = loaded.inherited.as_deref();
    let base = |record: Object<'_>| {
        let kind = record.text("type").filter(|kind| kind != "session_meta" || inherited.is_none())?;
        base_of(&kind, &record.object("payload")?)
    };
    let mut records = objects(&loaded.bytes).chain(objects(inherited.unwrap_or_default().as_bytes()));
    records.find_map(base).filter(|_| !is_whole(session)).map(|base| missing_history(&base))
}
