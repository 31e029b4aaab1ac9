//! Claude Code's JSON lines.
//!
//! Most lines are bookkeeping. What the model saw are `user` and `assistant` records outside side chains; the file's
//! order is the conversation's. One API message is spread over several records with the same `message.id`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{
    Block, Entry as ViewEntry, Epoch, Message, MessageId, Origin, Role, Session, SyntheticMessage, Trigger, Usage,
};

use crate::agent_file::mark::{FIELD, Mark, foreign_mark_warning, summary_position};
use crate::agent_file::records::{heads, loaded_session, records, span};
use crate::anthropic::blocks as anthropic;
use crate::branches::Place;
use crate::claude_code::attached::{self, Attached};
use crate::claude_code::boundary::{Boundary, time_of};
use crate::claude_code::copies::Copies;
use crate::claude_code::queue::Queue;
use crate::claude_code::replaced::ReplacedView;
use crate::claude_code::spoken;
use crate::claude_code::stubs::{self, Stubs};
use crate::claude_code::tree::{Kind, Tree};
use crate::json::Object;
use crate::qwen::is_record as is_qwen_record;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};

/// A message of the user's side whose texts the agent loaded as instructions: a skill, a command, rules, what a hook adds.
fn as_instructions(mut message: Message) -> Message {
    if message.role == Role::User {
        message.blocks = message.blocks.into_iter().map(Block::as_instructions).collect();
    }
    message
}

/// The model of a message that the agent made itself.
const SYNTHETIC: &str = "<synthetic>";

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    heads(probe).iter().any(|head| {
        let kind = head["type"].as_str().unwrap_or_default();
        !is_qwen_record(head)
            && (head.get("parentUuid").is_some() && (head["uuid"].is_string() || head["sessionId"].is_string())
                || matches!(kind, "user" | "assistant") && head["uuid"].is_string() && head["message"].is_object()
                || matches!(kind, "file-history-snapshot" | "file-history-delta")
                || kind == "summary" && head["leafUuid"].is_string()
                || kind == "queue-operation" && head["sessionId"].is_string())
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let lines = records(probe, Format::ClaudeCode, warnings)?;
    let is_said = |record: &Object<'_>| matches!(record.text("type").as_deref(), Some("user" | "assistant"));
    let is_side_chain =
        probe.side_chains && !lines.iter().any(|(_, record)| is_said(record) && !record.is_true("isSidechain"));
    let mut reader = ClaudeCodeReader { is_side_chain, ..ClaudeCodeReader::default() };
    for (line, record) in &lines {
        reader.record(line.number, span(line), record);
    }
    reader.commit_pending();
    warnings.append(&mut reader.warnings);
    if let Some(first) = reader.passed_over.first() {
        let count = reader.passed_over.len();
        let message = format!(
            "passed over: {count} of the messages from here on have the uuid of an earlier record, and are not copies of it"
        );
        warnings.push(Warning { line: Some(*first), message });
    }
    for (kind, (line, count)) in std::mem::take(&mut reader.unknown) {
        let message =
            format!("passed over: {count} attachments of the kind {kind}, which is not known and has no text");
        warnings.push(Warning { line: Some(line), message });
    }
    let nothing_found = "no line is a user's or the model's message";
    let mut loaded = loaded_session(Format::ClaudeCode, reader.session, reader.records, nothing_found)?;
    if let Some(helper) = reader.helper {
        loaded.name = format!("{}/agent-{helper}", loaded.name);
    }
    Ok(vec![loaded])
}

/// The part of a session file that was read. It borrows nothing of the file: a [`Follower`](crate::Follower) of a file
/// that grows reads on with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClaudeCodeReader {
    session: Session,
    /// Whether the file is read as the session of a helper, whose records are left out otherwise.
    is_side_chain: bool,
    /// The helper's id.
    helper: Option<Arc<str>>,
    records: Vec<Range<usize>>,
    /// The line, the uuid and the place of each record.
    places: Vec<(usize, Arc<str>, Option<Place>)>,
    tree: Tree,
    /// Messages since the last compaction, not yet in the log: records of one API message may still follow.
    pending: Vec<Message>,
    by_message_id: HashMap<Arc<str>, usize>,
    /// Every uuid: a copied record counts once.
    known: HashMap<Arc<str>, UuidRecord>,
    /// The lines of messages that were passed over because an earlier record has their uuid.
    passed_over: Vec<usize>,
    /// What was typed while the agent worked.
    queue: Queue,
    boundary: Option<Boundary>,
    copies: Option<Copies>,
    /// What the model sees in place of results that were not read yet.
    stubs: Stubs,
    /// The epochs of spans that were collapsed.
    collapsed: Vec<u32>,
    /// The newest version that recorded the words of an attachment: it records them of all that it sends.
    rendering: Option<String>,
    /// The kinds of attachments that are not known: the first line and the number.
    unknown: BTreeMap<String, (usize, usize)>,
    warnings: Vec<Warning>,
}

/// The records that have one uuid.
#[derive(Debug, Clone)]
struct UuidRecord {
    /// The line that has it last.
    line: usize,
    /// A hash of the message of the first record that has it, where that has one.
    message: Option<u64>,
}

impl ClaudeCodeReader {
    /// The session as far as it was read. Linear in the messages since the last compaction.
    pub(crate) fn session(&self) -> Session {
        let mut settled = self.clone();
        settled.commit_pending();
        settled.session
    }

    pub(crate) fn record(&mut self, line: usize, span: Range<usize>, record: &Object<'_>) {
        let uuid: Arc<str> = Arc::from(&*record.text("uuid").unwrap_or_default());
        if !uuid.is_empty() && self.is_repeated(line, Arc::clone(&uuid), record) {
            self.tree.bring_forward(&uuid);
            return;
        }
        if self.session.id.is_none()
            && let Some(id) = record.text("sessionId")
        {
            self.session.id = Some(Arc::from(&*id));
        }
        if self.is_side_chain && self.helper.is_none() {
            self.helper = record.text("agentId").map(|id| Arc::from(&*id));
        }
        let is_left_out = record.is_true("isSidechain") != self.is_side_chain;
        let kind = record.text("type").unwrap_or_default();
        let subtype = record.text("subtype").unwrap_or_default();
        if is_left_out || uuid.is_empty() {
            return self.in_place(line, span, uuid, record, None);
        }
        let is_copy = record.has(FIELD) && self.copies.is_some() || self.is_given(record, kind != "attachment");
        let in_tree = match (&*kind, &*subtype) {
            ("user" | "assistant", _) if !is_copy && !record.is_true("isCompactSummary") => Kind::Message,
            ("user" | "assistant", _) | ("system", "compact_boundary") => Kind::Compaction,
            _ => Kind::Other,
        };
        let entered = self.tree.enter(&uuid, record, in_tree);
        if !entered.is_on_live_branch {
            self.commit_pending();
            let places = &self.places;
            let place_of = |message: &Message| places.get(*message.records.last()? as usize)?.2;
            self.tree.move_to(entered.place, &mut self.session, place_of);
        }
        self.in_place(line, span, uuid, record, Some(entered.place));
        if in_tree != Kind::Other {
            self.tree.advance(entered.place, &self.session);
        }
    }

    /// Reads a record that stands at `place`.
    fn in_place(&mut self, line: usize, span: Range<usize>, uuid: Arc<str>, record: &Object<'_>, place: Option<Place>) {
        let is_left_out = record.is_true("isSidechain") != self.is_side_chain;
        let kind = record.text("type").unwrap_or_default();
        let subtype = record.text("subtype").unwrap_or_default();
        match (&*kind, &*subtype) {
            ("user" | "assistant", _) if is_not_sent(record) => {}
            ("user" | "assistant", _) if !is_left_out => {
                if record.has(FIELD) && self.copies.is_some() {
                    let of = record.object(FIELD).and_then(|mark| mark.text("copyOf"));
                    if let (Some(of), Some(place)) = (of, place) {
                        self.tree.copy(&of, place);
                    }
                    return self.copy(record);
                }
                if self.is_given(record, true) {
                    return self.give(record);
                }
                self.settle_copies();
                self.message(line, span, uuid, record, place);
            }
            // What is attached to a message that a hook kept.
            ("attachment", _) if self.is_given(record, false) => {}
            ("attachment", _) if !is_left_out => self.attach(line, span, &uuid, record),
            // A helper has no queue of its own.
            ("queue-operation", _) if !self.is_side_chain => self.queue.operate(line, span, record),
            ("system", "compact_boundary") if !is_left_out => self.compacted(line, record, place),
            ("system", "microcompact_boundary") => {
                let metadata = record.object("microcompactMetadata").unwrap_or_default();
                self.put_stubs(stubs::cleared(&metadata), metadata.number("preTokens"));
            }
            // A local command's output is sent, unless it says that it is not.
            ("system", "local_command") if !is_left_out && !record.is_true("isDisplayOnly") => {
                let content = record.get("content").unwrap_or_default().to_owned();
                self.queue.inject(line, span, &uuid, content, record);
            }
            ("content-replacement", _) => self.put_stubs(stubs::replaced(record), None),
            ("marble-origami-commit", _) => self.collapse(line, record),
            ("marble-origami-reset", _) => {
                // What an undo that does not hold leaves is as the recording had it before.
                self.collapsed.drain(..).rev().for_each(|epoch| drop(self.session.undo(epoch)));
            }
            _ => {}
        }
    }

    /// Whether an earlier record has this uuid: a copy by an agent counts once. A record that is not a copy is left out
    /// too, because references to the uuid mean the first one, but with a warning.
    fn is_repeated(&mut self, line: usize, uuid: Arc<str>, record: &Object<'_>) -> bool {
        let message = record.get("message").map(|json| {
            let mut hasher = DefaultHasher::new();
            json.hash(&mut hasher);
            hasher.finish()
        });
        match self.known.entry(uuid) {
            Entry::Vacant(vacant) => {
                vacant.insert(UuidRecord { line, message });
                false
            }
            Entry::Occupied(mut first) => {
                if message.is_some() && first.get().message != message {
                    self.passed_over.push(line);
                }
                first.get_mut().line = line;
                true
            }
        }
    }

    fn message(&mut self, line: usize, span: Range<usize>, uuid: Arc<str>, record: &Object<'_>, place: Option<Place>) {
        let Some(message) = record.object("message") else { return };
        if record.is_true("isCompactSummary") {
            self.flush();
            let boundary = self.boundary.take();
            self.commit(boundary, message.get("content"), &uuid);
            return;
        }
        if let Some(boundary) = self.boundary.take() {
            self.commit(Some(boundary), None, "");
        }
        let is_assistant = record.text("type").as_deref() == Some("assistant");
        let recorded = message.text("role").unwrap_or_default();
        let role = if is_assistant { "assistant" } else { &*recorded };
        let timestamp = time_of(record);
        let usage = message.object("usage").map(|usage| read_usage(&usage));
        let api_id = message.text("id").filter(|_| is_assistant);
        let from = record.object("origin").and_then(|origin| origin.text("kind"));
        // A helper gets its instructions from the model, not from a person.
        let is_injected = self.is_side_chain || record.is_true("isMeta") || from.is_some_and(|kind| kind != "human");
        let mut read = anthropic::messages(role, message.get("content").unwrap_or_default());
        spoken::mark_spoken(&mut read, record);
        if record.is_true("isMeta") && (record.has("sourceToolUseID") || self.follows_command()) {
            read = read.into_iter().map(as_instructions).collect();
        }
        let begins = if is_assistant {
            !api_id.as_deref().is_some_and(|id| self.by_message_id.contains_key(id))
        } else {
            !is_injected && read.iter().all(|message| message.role == Role::User)
        };
        if begins {
            self.give_queued();
        }
        let number = self.number(line, span, Arc::clone(&uuid), place);
        for mut read in read {
            if read.role == Role::Tool
                && let Some(id) = &api_id
            {
                // The result of a tool that the provider runs: what the model says behind it is another message.
                self.by_message_id.remove(&**id);
                self.push(read, &uuid, number, timestamp, is_injected);
                continue;
            }
            if let Some(index) = api_id.as_deref().and_then(|id| self.by_message_id.get(id)) {
                let first = &mut self.pending[*index];
                first.blocks.append(&mut read.blocks);
                first.records.push(number);
                first.usage = usage.or(first.usage);
                continue;
            }
            if let Some(id) = &api_id {
                self.by_message_id.insert(Arc::from(&**id), self.pending.len());
            }
            read.usage = usage;
            self.push(read, &uuid, number, timestamp, is_injected);
        }
    }

    /// Whether the newest message is a command of a person's: what the agent adds behind it is the command's own text.
    fn follows_command(&self) -> bool {
        let newest = self.pending.last().filter(|message| message.role == Role::User);
        newest.is_some_and(|message| message.plain_text().starts_with("<command-message>"))
    }

    /// The number of a new record with messages.
    fn number(&mut self, line: usize, span: Range<usize>, uuid: Arc<str>, place: Option<Place>) -> u32 {
        self.records.push(span);
        self.places.push((line, uuid, place.or_else(|| self.tree.tip())));
        self.records.len() as u32 - 1
    }

    fn push(&mut self, mut read: Message, id: &str, number: u32, timestamp: Option<i64>, is_injected: bool) {
        read.id = MessageId::new(id);
        read.timestamp = timestamp;
        read.records = vec![number];
        if is_injected && read.role == Role::User {
            read.origin = Origin::Injected;
        }
        self.pending.push(read);
    }

    /// What left the queue stands behind all results of the step in which it left, where the model was given it. The agent
    /// moves what is attached up to that step: in front of the prompt of its turn (2.1.332).
    fn give_queued(&mut self) {
        let mut at = self.pending.iter().rposition(|message| message.role != Role::User).map_or(0, |step| step + 1);
        for given in self.queue.give() {
            let is_attached = !given.uuid.is_empty();
            let id = if given.uuid.is_empty() { format!("queued-{}", given.line) } else { given.uuid.clone() };
            let number = self.number(given.line, given.span, Arc::from(given.uuid), None);
            for mut message in anthropic::messages("user", &given.json) {
                if given.is_instructions {
                    message = as_instructions(message);
                }
                let is_injected = self.is_side_chain || given.is_injected;
                self.push(message, &id, number, given.timestamp, is_injected);
                if is_attached {
                    self.pending[at..].rotate_right(1);
                    at += 1;
                }
            }
        }
    }

    fn attach(&mut self, line: usize, span: Range<usize>, uuid: &str, record: &Object<'_>) {
        if self.queue.attach(line, span.clone(), uuid, record) {
            return;
        }
        let attachment = record.object("attachment").unwrap_or_default();
        if attachment.text("type").as_deref() == Some("tool_results_cut") {
            return self.put_stubs(stubs::cut(&attachment), None);
        }
        let version = record.text("version").map(|version| version.into_owned());
        match attached::is_rendered(record) {
            true => self.rendering = version,
            false if version.is_some() && self.rendering == version => return,
            false => {}
        }
        match attached::read(record) {
            Attached::Content(json) => self.queue.inject(line, span, uuid, json, record),
            Attached::NotSent => {}
            Attached::Unknown(kind) => self.unknown.entry(kind).or_insert((line, 0)).1 += 1,
        }
    }

    /// The model sees texts in place of results from here on.
    fn put_stubs(&mut self, stubs: Stubs, tokens_before: Option<u32>) {
        if !stubs.is_empty() {
            self.commit_pending();
            self.stubs.extend(stubs);
            stubs::put(&mut self.stubs, &mut self.session, tokens_before);
        }
    }

    /// The model sees a summary in place of a span from here on.
    fn collapse(&mut self, line: usize, record: &Object<'_>) {
        self.commit_pending();
        let places = &self.places;
        let is_of = |entry: &ViewEntry, uuid: &str| {
            let is_record = |record: &u32| &*places[*record as usize].1 == uuid;
            entry.message.id.as_str() == uuid || entry.original.records.iter().any(is_record)
        };
        match stubs::collapse(&mut self.session, record, is_of) {
            Some(epoch) => self.collapsed.push(epoch),
            None => {
                let message = "passed over: a collapsed span whose messages are not in front of it".to_owned();
                self.warnings.push(Warning { line: Some(line), message });
            }
        }
    }

    /// Moves the pending messages into the log.
    fn flush(&mut self) {
        self.by_message_id.clear();
        for message in self.pending.drain(..) {
            self.session.push(message);
        }
        if !self.stubs.is_empty() {
            stubs::put(&mut self.stubs, &mut self.session, None);
        }
    }

    /// Ends what is still open at the end of the file.
    fn commit_pending(&mut self) {
        self.settle_copies();
        self.give_queued();
        self.flush();
        if let Some(boundary) = self.boundary.take() {
            self.commit(Some(boundary), None, "");
        }
    }

    fn compacted(&mut self, line: usize, record: &Object<'_>, place: Option<Place>) {
        self.commit_pending();
        self.collapsed.clear();
        match place {
            Some(place) if record.has(FIELD) => self.tree.advance_to_copies(place, &self.session),
            Some(place) => self.tree.advance(place, &self.session),
            None => {}
        }
        if record.has(FIELD) {
            let applied = Mark::from_record(record).is_some_and(|mark| mark.apply(&mut self.session));
            if !applied {
                self.warnings.push(foreign_mark_warning(line));
            }
            self.copies = Some(if applied { Copies::Skip } else { Copies::Collect(Vec::new()) });
            return;
        }
        let boundary = Boundary::read(record, |uuid| self.known.get(uuid).map(|known| known.line));
        for (uuid, known) in &self.known {
            if boundary.preserves(known.line, uuid) {
                self.tree.bring_forward(uuid);
            }
        }
        self.boundary = Some(boundary);
    }

    /// Commits a compaction of the whole view but what `boundary` preserves.
    fn commit(&mut self, boundary: Option<Boundary>, summary: Option<&str>, uuid: &str) {
        let kept = |message: &Message| {
            boundary.as_ref().is_some_and(|boundary| {
                message.records.iter().any(|record| {
                    let (line, uuid, _) = &self.places[*record as usize];
                    boundary.preserves(*line, uuid)
                })
            })
        };
        let position = summary_position(&self.session, |entry| kept(&entry.original), 0);
        let removed: Vec<_> =
            self.session.view().iter().filter(|entry| !kept(&entry.original)).map(|entry| entry.key).collect();
        let blocks = anthropic::blocks(summary.unwrap_or_default());
        let summary = (!blocks.is_empty()).then(|| Message::new(uuid, Role::User, Origin::Summary, blocks));
        let synthetics = summary.map(|message| SyntheticMessage { position, message: Arc::new(message) });
        let trigger = boundary.as_ref().map_or(Trigger::Recorded, |boundary| boundary.trigger);
        self.session.commit(Epoch {
            tokens_before: boundary.as_ref().and_then(|boundary| boundary.tokens_before),
            tokens_after: boundary.as_ref().and_then(|boundary| boundary.tokens_after),
            ..Epoch::recorded(trigger, removed, synthetics.into_iter().collect())
        });
    }

    /// Whether a record stands behind a boundary and is older: a function hook gave it, where the boundary has no summary.
    fn is_given(&self, record: &Object<'_>, is_message: bool) -> bool {
        let boundary = match (&self.boundary, &self.copies) {
            (None, Some(Copies::Given(given))) => Some(&given.boundary),
            (boundary, _) => boundary.as_ref(),
        };
        boundary.is_some_and(|boundary| boundary.is_behind(record, is_message))
    }

    /// Takes a message that a function hook gave.
    fn give(&mut self, record: &Object<'_>) {
        if let Some(boundary) = self.boundary.take() {
            self.copies = Some(Copies::Given(ReplacedView { boundary, messages: Vec::new() }));
        }
        self.copy(record);
    }

    fn copy(&mut self, record: &Object<'_>) {
        if let Some(copies) = &mut self.copies {
            copies.add(record, &mut self.by_message_id);
        }
    }

    fn settle_copies(&mut self) {
        if let Some(copies) = self.copies.take() {
            self.by_message_id.clear();
            copies.commit(&mut self.session);
        }
    }
}

/// Whether a message is shown to the person, and no model is given it (2.1.332): what the agent says of a request that failed,
/// and what only stands in the transcript.
fn is_not_sent(record: &Object<'_>) -> bool {
    let model = || record.object("message").and_then(|message| message.text("model"));
    let is_of_transcript = record.is_true("isVirtual") || record.is_true("retiredByNoPersonsInput");
    is_of_transcript || record.is_true("isApiErrorMessage") && model().as_deref() == Some(SYNTHETIC)
}

fn read_usage(usage: &Object<'_>) -> Usage {
    let tokens = |name: &str| usage.number(name).unwrap_or(0);
    let (cache_read, cache_write) = (tokens("cache_read_input_tokens"), tokens("cache_creation_input_tokens"));
    Usage {
        input: tokens("input_tokens") + cache_read + cache_write,
        cache_read,
        cache_write,
        output: tokens("output_tokens"),
    }
}
