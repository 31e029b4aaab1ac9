//! The history that a rollout inherits from other rollouts, read in the place where they are named.
//!
//! Codex names it in two ways. `history_base` of the head (0.153 and newer): all of the rollout with an id that is in front of a
//! byte. A record `rollout_reference`: the rollout at a path, or what is in front of one of its typed messages. The second way is
//! that of rollouts in segments, which github.com/openai/codex has (codex-rs/thread-store/src/local/segment_writer.rs) and no
//! release up to 0.171 writes; programs made of Codex do. Here as there: each rollout has to begin with its head, which is not
//! taken over, and to be whole.

use std::collections::HashSet;
use std::io::ErrorKind;

use crate::codex::prefix::{without_texts, without_turns};
use crate::inherited::{FileName, FindFile, Inherited};
use crate::json::{Object, string};

/// The most rollouts that one continues, one behind the other.
const MOST_DEEP: usize = 1_000;

/// A part of another rollout, as a record names it.
struct Part<'a> {
    /// The end of the name of the rollout's file.
    id: String,
    path: Option<String>,
    end: End<'a>,
}

enum End<'a> {
    /// The length of the part in bytes, and the ordinal of the first record that is not of it.
    Base { length: usize, ordinal: u64 },
    /// The record that names it.
    Reference(Object<'a>),
}

impl<'a> Part<'a> {
    /// The part that a record names, where it names one. An end that is not told is in front of everything.
    fn named_by(record: &Object<'a>) -> Option<Self> {
        let payload = record.object("payload")?;
        let text = |name: &str| payload.text(name).map(std::borrow::Cow::into_owned);
        match &*record.text("type")? {
            "session_meta" => {
                let base = payload.object("history_base")?;
                let ordinal = base.number("end_ordinal_exclusive").unwrap_or(0);
                let length = base.number("end_byte_offset").unwrap_or(0);
                let id = base.text("thread_id").unwrap_or_default().into_owned();
                Some(Self { id, path: None, end: End::Base { length, ordinal } })
            }
            "rollout_reference" => {
                let path = text("rollout_path");
                let id = text("rollout_id").or_else(|| text("thread_id")).unwrap_or_default();
                Some(Self { id, path, end: End::Reference(payload) })
            }
            _ => None,
        }
    }

    /// What a person knows the rollout by.
    fn name(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.id)
    }
}

/// The name of the rollout that a record continues, where it names one.
pub(super) fn named_rollout(record: &Object<'_>) -> Option<String> {
    Part::named_by(record).map(|part| part.name().to_owned())
}

/// The records of other rollouts that a rollout continues; none where it names none. `find` gives the content of a rollout.
/// The error says which one is not there whole, and why.
pub(crate) fn inherited_records(rollout: &[u8], find: FindFile<'_>) -> Result<Option<Inherited>, String> {
    let mut along = Along { find, known: HashSet::new() };
    let mut inherited = Inherited::new(rollout.len());
    let mut start = 0;
    for line in rollout.split_inclusive(|byte| *byte == b'\n') {
        let (is_first, at) = (start == 0, start + line.len() - line.trim_ascii_start().len());
        start += line.len();
        let text = std::str::from_utf8(line).unwrap_or_default();
        if !is_first && !text.contains("\"rollout_reference\"") {
            continue;
        }
        let record = Object::parse(text.trim());
        if is_first && record.as_ref().is_none_or(|record| !is_head(record)) {
            return Ok(None);
        }
        if let Some(part) = record.as_ref().and_then(Part::named_by) {
            inherited.add(at, &along.records(&part, 0)?);
        }
    }
    Ok((!inherited.is_empty()).then_some(inherited))
}

fn is_head(record: &Object<'_>) -> bool {
    record.text("type").as_deref() == Some("session_meta")
}

/// Reads rollouts that others name.
struct Along<'f> {
    find: FindFile<'f>,
    /// What was read, by what named it.
    known: HashSet<(String, Option<String>)>,
}

impl Along<'_> {
    /// The records of a part with those that it continues in turn. The error says why it is not there whole.
    fn records(&mut self, part: &Part<'_>, depth: usize) -> Result<String, String> {
        let name = part.name();
        let problem = |why: &str| Err(format!("the rollout `{name}` {why}"));
        if !self.known.insert((part.id.clone(), part.path.clone())) {
            return problem("is named a second time");
        }
        if depth > MOST_DEEP {
            return problem("stands behind more than a thousand others");
        }
        let found = match (self.find)(&FileName { id: &part.id, path: part.path.as_deref() }) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return problem("is not there"),
            Err(error) => return problem(&format!("cannot be read ({error})")),
        };
        let (length, end_ordinal) = match part.end {
            End::Base { length, ordinal } => (length, Some(ordinal)),
            End::Reference(_) => (found.len(), None),
        };
        let Some(bytes) = found.get(..length) else { return problem("is shorter than the part that is named of it") };
        if length == 0 || (end_ordinal.is_some() && !bytes.ends_with(b"\n")) {
            return problem("does not have the part that is named of it: no record ends there");
        }
        let (mut records, mut is_first) = (String::with_capacity(length), true);
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let Ok(line) = std::str::from_utf8(line).map(str::trim) else {
                return problem(&format!("is damaged: line {} is not UTF-8", number + 1));
            };
            if line.is_empty() {
                continue;
            }
            let Some(record) = Object::parse(line) else {
                return problem(&format!("is damaged: line {} is no record", number + 1));
            };
            if end_ordinal.is_some_and(|end| record.number::<u64>("ordinal").is_none_or(|ordinal| ordinal >= end)) {
                return problem(&format!(
                    "is another one by now: line {} is not of the part that is named",
                    number + 1
                ));
            }
            match std::mem::take(&mut is_first) {
                true if !is_head(&record) => return problem("does not begin with a head"),
                true if !part.is_of(&record) => return problem("is another one by now: its head has another id"),
                true | false => {}
            }
            match Part::named_by(&record) {
                Some(part) => records += &self.records(&part, depth + 1)?,
                None if is_head(&record) => {}
                None => records.extend([line, "\n"]),
            }
        }
        Ok(part.cut(records))
    }
}

impl Part<'_> {
    /// Whether a head is that of the rollout: a reference names its thread and its segment, which the first has none of.
    fn is_of(&self, head: &Object<'_>) -> bool {
        let (End::Reference(reference), Some(head)) = (&self.end, head.object("payload")) else { return true };
        let is_thread = reference.text("thread_id").is_none_or(|id| head.text("id").as_ref() == Some(&id));
        is_thread && reference.text("segment_id") == head.text("segment_id")
    }

    /// The records without those that are not taken over.
    fn cut(&self, records: String) -> String {
        let End::Reference(reference) = &self.end else { return records };
        let texts = reference.list("compacted_replacement_history_filter_texts").unwrap_or_default();
        let texts: Vec<_> = texts.into_iter().filter_map(string).collect();
        let records = if texts.is_empty() { records } else { without_texts(&records, &texts) };
        // The largest number stands for all.
        match reference.number::<u64>("nth_user_message") {
            Some(nth) => without_turns(records, usize::try_from(nth).unwrap_or(usize::MAX)),
            None => records,
        }
    }
}
