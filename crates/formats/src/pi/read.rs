//! Pi's JSON lines: a tree of entries by id and parent; files of the first version are a list without ids.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{
    Entry, EntryKey, Epoch, Message, MessageId, Origin, Position, Role, Session, SyntheticMessage, Trigger,
};

use super::blocks;
use crate::agent_file::mark::{FIELD, Mark, foreign_mark_warning, replace_view, summary_position};
use crate::agent_file::records::{heads, loaded_session, records, span};
use crate::json::Object;
use crate::json::value::items;
use crate::reader::{Format, Line, LoadedSession, Probe, ReadError, Warning};
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    const ROLES: [&str; 5] = ["user", "assistant", "toolResult", "bashExecution", "custom"];
    let heads = heads(probe);
    // Another agent's lines have the same frame around Anthropic's messages.
    let is_of_anthropic =
        |block: &serde_json::Value| matches!(block["type"].as_str(), Some("tool_use" | "tool_result"));
    if heads.iter().any(|head| items(&head["message"]["content"]).iter().any(is_of_anthropic)) {
        return false;
    }
    heads.iter().any(|head| head["type"] == "session" && (head["cwd"].is_string() || head["version"].is_number()))
        || heads.iter().any(|head| {
            let in_context = head["message"]["role"].as_str().is_some_and(|role| ROLES.contains(&role));
            head["type"] == "message" && in_context && head.get("uuid").is_none()
        })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let lines = records(probe, Format::Pi, warnings)?;
    let mut reader = PiReader::default();
    for (line, entry) in &lines {
        reader.entry(line, entry, warnings);
    }
    reader.settle_copies();
    Ok(vec![loaded_session(Format::Pi, reader.session, reader.records, "no line is a message or the session's head")?])
}

/// The part of a session file that was read. It borrows nothing of the file: a [`Follower`](crate::Follower) of a file
/// that grows reads on with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PiReader {
    session: Session,
    /// The number of entries that were read.
    count: usize,
    records: Vec<Range<usize>>,
    /// The number of the entry that each message of the log was read from.
    entries: Vec<usize>,
    /// Entries by id: their number and their parent.
    tree: HashMap<Arc<str>, (usize, Option<Arc<str>>)>,
    last_id: Option<Arc<str>>,
    /// Copies behind a compaction of our own: passed over, or collected where its mark does not fit.
    copies: Option<Option<Vec<Message>>>,
}

impl PiReader {
    /// The session as far as it was read. Costs a copy of its lists.
    pub(crate) fn session(&self) -> Session {
        let mut settled = self.clone();
        settled.settle_copies();
        settled.session
    }

    pub(crate) fn entry(&mut self, line: &Line<'_>, entry: &Object<'_>, warnings: &mut Vec<Warning>) {
        let number = self.count;
        self.count += 1;
        let kind = entry.text("type").unwrap_or_default();
        if kind == "session" {
            self.session.id = entry.text("id").map(|id| Arc::from(&*id));
            return;
        }
        let in_context = matches!(&*kind, "message" | "custom_message");
        let name = |field: &str| entry.text(field).map(|id| Arc::<str>::from(&*id));
        if let Some(id) = name("id") {
            let parent = name("parentId");
            if parent != self.last_id && parent.is_some() && (in_context || kind == "branch_summary") {
                self.settle_copies();
                self.branch_from(parent.clone(), None);
            }
            self.tree.insert(Arc::clone(&id), (number, parent));
            self.last_id = Some(id);
        }
        let is_copy = in_context && entry.has(FIELD) && self.copies.is_some();
        if !is_copy {
            self.settle_copies();
        }
        match &*kind {
            "message" | "custom_message" => {
                let message = if kind == "message" {
                    entry.object("message").and_then(|message| blocks::message(&message))
                } else {
                    blocks::message(entry).map(|message| Message { origin: Origin::Injected, ..message })
                };
                let Some(mut message) = message else { return };
                if is_copy {
                    if let Some(Some(copies)) = &mut self.copies {
                        copies.push(message);
                    }
                    return;
                }
                message.id = MessageId::new(&*entry.text("id").unwrap_or_default());
                message.timestamp = entry.text("timestamp").and_then(|text| time::parse(&text));
                message.records = vec![self.records.len() as u32];
                self.records.push(span(line));
                self.entries.push(number);
                self.session.push(message);
            }
            "compaction" => self.compacted(line, entry, warnings),
            "branch_summary" => self.branch_from(None, entry.text("summary")),
            _ => {}
        }
    }

    fn compacted(&mut self, line: &Line<'_>, entry: &Object<'_>, warnings: &mut Vec<Warning>) {
        if entry.has(FIELD) {
            let applied = Mark::from_record(entry).is_some_and(|mark| mark.apply(&mut self.session));
            if applied {
                self.copies = Some(None);
                return;
            }
            warnings.push(foreign_mark_warning(line.number));
            let summary = entry.text("summary").unwrap_or_default();
            self.copies = Some(Some(vec![Message::text("", Role::User, Origin::Summary, &*summary)]));
            return;
        }
        let first_kept = match entry.text("firstKeptEntryId") {
            Some(id) => self.tree.get(&*id).map(|(number, _)| *number),
            None => entry.number("firstKeptEntryIndex"),
        };
        let kept = |shown: &Entry| match shown.key {
            EntryKey::Log(index) => first_kept.is_some_and(|first| self.entries[index as usize] >= first),
            EntryKey::Synthetic { .. } => false,
        };
        let position = summary_position(&self.session, kept, 0);
        let removed: Vec<EntryKey> =
            self.session.view().iter().filter(|shown| !kept(shown)).map(|shown| shown.key).collect();
        let summary = entry.text("summary").unwrap_or_default();
        let id = entry.text("id").unwrap_or_default();
        let message = Arc::new(Message::text(&*id, Role::User, Origin::Summary, &*summary));
        let tokens_before = entry.number("tokensBefore");
        let epoch = Epoch::recorded(Trigger::Recorded, removed, vec![SyntheticMessage { position, message }]);
        self.session.commit(Epoch { tokens_before, ..epoch });
    }

    /// The conversation continues from `parent`: messages that are not on the way to it have left the view. A summary
    /// of the branch that was left is added at the end.
    fn branch_from(&mut self, parent: Option<Arc<str>>, summary: Option<Cow<'_, str>>) {
        let mut removed = Vec::new();
        if let Some(parent) = parent {
            let mut path = HashSet::new();
            let mut at = Some(parent);
            while let Some((number, next)) = at.and_then(|id| self.tree.get(&id)) {
                if !path.insert(*number) {
                    break; // a circle of parents
                }
                at = next.clone();
            }
            if path.is_empty() {
                return; // an unknown parent says nothing
            }
            removed.extend(self.session.view().iter().filter_map(|entry| match entry.key {
                EntryKey::Log(index) => (!path.contains(&self.entries[index as usize])).then_some(entry.key),
                EntryKey::Synthetic { .. } => None,
            }));
        }
        let position = Position::at_end(self.session.log().len() as u32, self.session.next_epoch(), 0);
        let synthetics: Vec<SyntheticMessage> = summary
            .map(|text| Message::text("", Role::User, Origin::Summary, &*text))
            .map(|message| SyntheticMessage { position, message: Arc::new(message) })
            .into_iter()
            .collect();
        if !removed.is_empty() || !synthetics.is_empty() {
            self.session.commit(Epoch::recorded(Trigger::Recorded, removed, synthetics));
        }
    }

    fn settle_copies(&mut self) {
        if let Some(Some(messages)) = self.copies.take() {
            replace_view(&mut self.session, Trigger::Recorded, messages);
        }
    }
}
