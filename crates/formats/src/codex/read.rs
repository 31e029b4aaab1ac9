//! Codex rollout JSON lines: `response_item` records are the conversation, in Responses items.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{
    Entry, EntryKey, Epoch, Message, Origin, Position, Role, Session, SyntheticMessage, Trigger, Usage, pair,
};

use crate::agent_file::mark::{FIELD, Mark, foreign_mark_warning};
use crate::agent_file::records::{heads, loaded_session, records, span};
use crate::json::{Object, defined_tools};
use crate::openai_responses::blocks as responses;
use crate::openai_responses::group::Grouper;
use crate::reader::{Format, Line, LoadedSession, Probe, ReadError, Warning};
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    heads(probe).iter().any(|head| {
        let kind = head["type"].as_str().unwrap_or_default();
        head["payload"].is_object() && matches!(kind, "session_meta" | "response_item" | "turn_context" | "compacted")
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let lines = records(probe, Format::Codex, warnings)?;
    let mut reader = CodexReader::default();
    for (line, record) in &lines {
        reader.record(line, record, warnings);
    }
    reader.flush();
    Ok(vec![loaded_session(
        Format::Codex,
        reader.session,
        reader.records,
        "no line is a `response_item` or the session's head",
    )?])
}

/// A record's payload; records of early versions are the payload themselves.
fn payload<'a>(record: &Object<'a>) -> Option<(&'a str, Object<'a>)> {
    let json = record.get("payload")?;
    Some((json, Object::parse(json)?))
}

/// The part of a rollout that was read. It borrows nothing of the file: a [`Follower`](crate::Follower) of a file that
/// grows reads on with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CodexReader {
    session: Session,
    records: Vec<Range<usize>>,
    grouper: Grouper,
    /// The system prompt of the session's head, which compactions do not touch.
    head: Option<EntryKey>,
}

impl CodexReader {
    /// The session as far as it was read. Linear in the messages since the last compaction.
    pub(crate) fn session(&self) -> Session {
        let mut settled = self.clone();
        settled.flush();
        settled.session
    }

    pub(crate) fn record(&mut self, line: &Line<'_>, record: &Object<'_>, warnings: &mut Vec<Warning>) {
        let kind = record.text("type").unwrap_or_default();
        let timestamp = record.text("timestamp").and_then(|text| time::parse(&text));
        let Some((json, payload)) = payload(record) else {
            // Early versions: the item is the line.
            if matches!(&*kind, "message" | "reasoning" | "function_call" | "function_call_output") {
                let number = self.number(line);
                self.grouper.add(responses::item(line.json.trim()), number, None, timestamp);
            }
            return;
        };
        match &*kind {
            "session_meta" => self.head(line, &payload),
            "response_item" => {
                let number = self.number(line);
                self.grouper.add(responses::item(json), number, None, timestamp);
            }
            "compacted" => self.compacted(line, &payload, warnings),
            "event_msg" if payload.text("type").as_deref() == Some("token_count") => {
                if let Some(usage) = payload.object("info").and_then(|info| info.object("last_token_usage")) {
                    self.grouper.usage(read_usage(&usage));
                }
            }
            _ => {}
        }
    }

    fn number(&mut self, line: &Line<'_>) -> u32 {
        self.records.push(span(line));
        self.records.len() as u32 - 1
    }

    fn head(&mut self, line: &Line<'_>, payload: &Object<'_>) {
        if self.session.id.is_some() {
            return; // the head of a session that this one was forked from
        }
        self.session.id = payload.text("id").map(|id| Arc::from(&*id));
        let instructions = payload
            .object("base_instructions")
            .and_then(|base| base.text("text"))
            .or_else(|| payload.text("base_instructions"))
            .or_else(|| payload.text("instructions"))
            .filter(|text| !text.is_empty());
        if let Some(text) = instructions {
            let records = vec![self.number(line)];
            let message = Message::text("", Role::System, Origin::Instructions, &*text);
            self.head = Some(self.session.push(Message { records, ..message }));
        }
        self.session.tools = payload.get("dynamic_tools").and_then(defined_tools).map(Arc::from);
    }

    fn flush(&mut self) {
        for message in self.grouper.finish() {
            self.session.push(message);
        }
    }

    fn compacted(&mut self, line: &Line<'_>, payload: &Object<'_>, warnings: &mut Vec<Warning>) {
        self.flush();
        if payload.has(FIELD) {
            if Mark::from_record(payload).is_some_and(|mark| mark.apply(&mut self.session)) {
                return;
            }
            warnings.push(foreign_mark_warning(line.number));
        }
        let summary = payload.text("message").filter(|text| !text.is_empty());
        let wanted = match payload.list("replacement_history") {
            Some(items) => replacement(&items),
            None => {
                // Early versions: the users' messages stay, and the summary follows them.
                let users = self.session.view().iter().filter(|entry| stays_in_early_versions(entry));
                let mut wanted: Vec<Message> = users.map(|entry| Message::clone(&entry.message)).collect();
                let text = summary.unwrap_or_default();
                wanted.push(Message::text("", Role::User, Origin::Summary, &*text));
                wanted
            }
        };
        let (removed, synthetics) = self.difference(wanted);
        self.session.commit(Epoch::recorded(Trigger::Recorded, removed, synthetics));
    }

    /// The entries that leave the view, and the messages that come into it, for it to read as `wanted`. Messages that
    /// stay are recognised by their content, in order; the messages of an earlier compaction are added anew, because no
    /// message can be placed in front of them.
    fn difference(&self, wanted: Vec<Message>) -> (Vec<EntryKey>, Vec<SyntheticMessage>) {
        let view = self.session.view();
        let epoch = self.session.next_epoch();
        let is_head = |entry: &Entry| Some(entry.key) == self.head;
        let may_stay = |entry: &Entry| matches!(entry.key, EntryKey::Log(_)) && !is_head(entry);
        let mut staying: Vec<EntryKey> = Vec::new();
        let mut synthetics: Vec<SyntheticMessage> = Vec::new();
        let mut waiting: Vec<Message> = Vec::new();
        let mut at = 0;
        for message in wanted {
            let found =
                (at..view.len()).find(|index| may_stay(&view[*index]) && same_message(&view[*index].message, &message));
            let Some(index) = found else {
                waiting.push(message);
                continue;
            };
            place(&mut synthetics, &mut waiting, |sequence| Position::before(view[index].position, epoch, sequence));
            staying.push(view[index].key);
            at = index + 1;
        }
        let end = self.session.log().len() as u32;
        place(&mut synthetics, &mut waiting, |sequence| Position::at_end(end, epoch, sequence));
        let leaves = |entry: &&Entry| !is_head(entry) && !staying.contains(&entry.key);
        (view.iter().filter(leaves).map(|entry| entry.key).collect(), synthetics)
    }
}

fn stays_in_early_versions(entry: &Entry) -> bool {
    matches!((entry.message.role, entry.message.origin), (Role::User, Origin::Typed | Origin::Injected))
}

fn place(synthetics: &mut Vec<SyntheticMessage>, waiting: &mut Vec<Message>, position: impl Fn(u32) -> Position) {
    for message in waiting.drain(..) {
        let position = position(synthetics.len() as u32);
        synthetics.push(SyntheticMessage { position, message: Arc::new(message) });
    }
}

/// Whether two messages say the same, wherever they were recorded.
fn same_message(left: &Message, right: &Message) -> bool {
    left.role == right.role
        && left.blocks.len() == right.blocks.len()
        && left.blocks.iter().zip(&right.blocks).all(|(left, right)| left.content == right.content)
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

fn read_usage(usage: &Object<'_>) -> Usage {
    let tokens = |name: &str| usage.number(name).unwrap_or(0);
    Usage {
        input: tokens("input_tokens"),
        cache_read: tokens("cached_input_tokens"),
        cache_write: 0,
        output: tokens("output_tokens"),
    }
}

/// The items of a record, as JSON text: its payload, or for early versions the record itself.
pub(crate) fn item_of(record: &str) -> Option<&str> {
    let object = Object::parse(record)?;
    Some(object.get("payload").unwrap_or(record))
}
