//! Codex rollout JSON lines: `response_item` records are the conversation, in Responses items.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{EntryKey, Epoch, Message, Origin, Role, Session, Trigger, Usage};

use crate::agent_file::mark::{FIELD, Mark, foreign_mark_warning};
use crate::agent_file::records::{heads, loaded_session, records, span};
use crate::branches::Place;
use crate::codex::inherited_rollouts::named_rollout;
use crate::codex::missing_history::{is_whole, missing_history, not_looked_for};
use crate::codex::replaced;
use crate::codex::turns::Turns;
use crate::inherited::Inherited;
use crate::json::{self, Object, ObjectWriter, defined_tools};
use crate::openai_responses::blocks as responses;
use crate::openai_responses::group::Grouper;
use crate::reader::{Format, Line, LoadedSession, Probe, ReadError, Warning};
use crate::replacement::difference;
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
        reader.record_with(line, record, probe.inherited.unwrap_or_default(), warnings);
    }
    reader.flush();
    if let Some((line, name)) = reader.missing.take() {
        let not_looked_for = not_looked_for(&name);
        let why = probe.inherited.err().unwrap_or(&not_looked_for);
        if let Some(message) = missing_history(why, &reader.session) {
            if reader.session.log().iter().all(|message| message.origin == Origin::Instructions) {
                return Err(ReadError::malformed(Format::Codex, format!("nothing was said in it; {message}")));
            }
            warnings.push(Warning { line: Some(line), message });
        }
    }
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
    /// The turn of each record.
    places: Vec<Option<Place>>,
    turns: Turns,
    grouper: Grouper,
    /// The system prompt of the session's head, which compactions do not touch.
    head: Option<EntryKey>,
    /// The first line that continues another file which was not read along, and that file's name.
    missing: Option<(usize, String)>,
}

impl CodexReader {
    /// The session as far as it was read. Linear in the messages since the last compaction.
    pub(crate) fn session(&self) -> Session {
        let mut settled = self.clone();
        settled.flush();
        settled.session
    }

    fn record(&mut self, line: &Line<'_>, record: &Object<'_>, warnings: &mut Vec<Warning>) {
        let kind = record.text("type").unwrap_or_default();
        let timestamp = record.text("timestamp").and_then(|text| time::parse(&text));
        let Some((json, payload)) = payload(record) else {
            // Early versions: the item is the line.
            if matches!(&*kind, "message" | "reasoning" | "function_call" | "function_call_output") {
                self.item(line, line.json.trim(), timestamp);
            }
            return;
        };
        self.missing = self.missing.take().or_else(|| Some((line.number, named_rollout(record)?)));
        let subtype = payload.text("type").unwrap_or_default();
        match (&*kind, &*subtype) {
            ("session_meta", _) => self.head(line, &payload),
            // Codex keeps them for itself.
            ("response_item", "ghost_snapshot") => {}
            ("response_item", _) => self.item(line, json, timestamp),
            ("inter_agent_communication", _) => self.item(line, &agent_message(&payload), timestamp),
            ("compacted", _) => self.compacted(line, &payload, warnings),
            ("event_msg", "task_started" | "turn_started") => self.turns.begin(&self.session),
            ("event_msg", "thread_rolled_back") => self.roll_back(payload.number("num_turns").unwrap_or(0)),
            ("event_msg", "token_count") => {
                if let Some(usage) = payload.object("info").and_then(|info| info.object("last_token_usage")) {
                    self.grouper.usage(read_usage(&usage));
                }
            }
            _ => {}
        }
    }

    /// Whether something of what the agent would send stands in another file, and was not read along.
    pub(crate) fn misses_history(&self) -> bool {
        self.missing.is_some() && !is_whole(&self.session)
    }

    /// Reads a record, and the records of other rollouts that stand behind it.
    pub(crate) fn record_with(
        &mut self,
        line: &Line<'_>,
        record: &Object<'_>,
        inherited: Option<&Inherited>,
        warnings: &mut Vec<Warning>,
    ) {
        self.record(line, record, warnings);
        let Some((mut start, records)) = inherited.and_then(|inherited| inherited.behind(span(line).start)) else {
            return;
        };
        self.missing = None;
        for json in records.split_inclusive('\n') {
            if let Some(record) = Object::parse(json.trim()) {
                // What is told of them stands at the line that names them.
                self.record(&Line { number: line.number, start, json }, &record, warnings);
            }
            start += json.len();
        }
    }

    fn item(&mut self, line: &Line<'_>, json: &str, timestamp: Option<i64>) {
        let item = responses::item(json);
        self.turns.add_item(&item, &self.session);
        let number = self.number(line);
        self.grouper.add(item, number, None, timestamp);
    }

    fn number(&mut self, line: &Line<'_>) -> u32 {
        self.records.push(span(line));
        self.places.push(self.turns.place());
        self.records.len() as u32 - 1
    }

    fn roll_back(&mut self, count: usize) {
        self.flush();
        let places = &self.places;
        let place_of = |message: &Message| *places.get(*message.records.last()? as usize)?;
        self.turns.roll_back(count, &mut self.session, place_of);
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
        let wanted = replaced::wanted(payload, &self.session);
        let (removed, synthetics) = difference(&self.session, self.head, wanted);
        self.session.commit(Epoch::recorded(Trigger::Recorded, removed, synthetics));
    }
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

/// The item in which Codex shows the model what another agent says, as `InterAgentCommunication::to_model_input_item` of its
/// protocol makes it (0.169).
fn agent_message(payload: &Object<'_>) -> String {
    let text = |name: &str| payload.text(name).unwrap_or_default();
    let input = |text: &str| ObjectWriter::new().text("type", "input_text").text("text", text).finish();
    let content = match payload.get("encrypted_content") {
        Some(encrypted) => {
            let kind = if payload.is_true("trigger_turn") { "NEW_TASK" } else { "MESSAGE" };
            let (recipient, author) = (text("recipient"), text("author"));
            let head = format!("Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n");
            let rest =
                ObjectWriter::new().text("type", "encrypted_content").raw("encrypted_content", encrypted).finish();
            vec![input(&head), rest]
        }
        None => vec![input(&text("content"))],
    };
    let item = ObjectWriter::new().text("type", "agent_message").text("author", &text("author"));
    item.text("recipient", &text("recipient")).raw("content", &json::join(&content)).finish()
}

/// The item of a record, as JSON text: its payload, or for early versions the record itself. `None` where the record is none.
pub(crate) fn item_of(record: &str) -> Option<&str> {
    let object = Object::parse(record)?;
    match object.get("payload") {
        Some(payload) => (object.text("type").as_deref() == Some("response_item")).then_some(payload),
        None => Some(record),
    }
}
