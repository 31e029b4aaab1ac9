//! Codex's file: one `compacted` record whose replacement history is the view, and what that comes to in tokens.

use epitome_session::{Entry, EntryKey, Session};

use crate::agent_file::appended::{Lines, last_time, newest};
use crate::agent_file::mark::{FIELD, Mark};
use crate::agent_file::new_file::NewFile;
use crate::agent_file::records::newest_objects;
use crate::json::{self, Object, ObjectWriter};
use crate::loaded::LoadedFile;
use crate::render::{self, Source, Wire};
use crate::time;
use crate::write::target::{Target, on_users_side, split_summary};

/// The file with the compaction behind it.
pub(crate) fn append(target: &Target<'_>) -> Vec<u8> {
    let bytes = &*target.loaded.bytes;
    let mut rollout = Rollout { lines: Lines::after(bytes, last_time(bytes)), ordinal: next_ordinal(bytes) };
    let turn = is_rolled_back(target.loaded).then(|| rollout.lines.next_uuid());
    if let Some(turn) = &turn {
        rollout.push("event_msg", &event("task_started", turn));
    }
    for entry in target.new_messages() {
        for item in render::response_items(&entry.message) {
            rollout.push("response_item", &item);
        }
    }
    if target.is_compacted() {
        let source = target.source.for_own_file();
        let parts = render::parts(&on_users_side(target.session.view()), Wire::OpenaiResponses, Some(&source));
        let items: Vec<String> = parts.items.into_iter().map(|part| part.json).collect();
        let mark = Mark::between(target.original, target.session).to_json();
        let summary = split_summary(target.session.view()).0.map(|entry| entry.message.plain_text());
        let payload = ObjectWriter::new()
            .text("message", &summary.unwrap_or_default())
            .raw("replacement_history", &json::join(&items))
            .raw(FIELD, &mark)
            .finish();
        rollout.push("compacted", &payload);
        if shows_environment(target.session) {
            for (kind, payload) in told_context(target.loaded) {
                rollout.push(kind, &payload);
            }
        }
        if let Some(count) = tokens(target.session).and_then(|tokens| token_count(target.loaded, tokens)) {
            rollout.push("event_msg", &count);
        }
    }
    if let Some(turn) = &turn {
        rollout.push("event_msg", &event("task_complete", turn));
    }
    rollout.lines.finish()
}

/// The records of a rollout and of those that it continues, the newest first.
fn newest_records(loaded: &LoadedFile) -> impl Iterator<Item = Object<'_>> {
    let inherited =
        loaded.inherited.iter().flatten().flat_map(|inherited| newest_objects(inherited.records().as_bytes()));
    newest_objects(&loaded.bytes).chain(inherited)
}

/// Whether no turn began since the newest rollback. Codex (0.169) takes what follows one for a part of the turn that was taken
/// back, up to the begin of a turn: what is added there has to be a turn of its own. Reads the file's end up to that.
fn is_rolled_back(loaded: &LoadedFile) -> bool {
    let newest = newest_records(loaded).find_map(|record| match &*record.object("payload")?.text("type")? {
        "thread_rolled_back" => Some(true),
        "task_started" | "turn_started" => Some(false),
        _ => None,
    });
    newest.unwrap_or(false)
}

fn event(kind: &str, turn: &str) -> String {
    ObjectWriter::new().text("type", kind).text("turn_id", turn).finish()
}

/// A new file that holds the view.
pub(crate) fn create(view: &[Entry], source: Option<&Source<'_>>, mut new_file: NewFile<'_>) -> Vec<u8> {
    let parts = render::parts(view, Wire::OpenaiResponses, source);
    let instructions = parts.system.map(|text| ObjectWriter::new().raw("text", &text).finish());
    let branch = Some(new_file.branch()).filter(|branch| !branch.is_empty());
    let git = branch.map(|branch| ObjectWriter::new().text("branch", branch).finish());
    let payload = ObjectWriter::new()
        .text("id", &new_file.id)
        .text("timestamp", &time::format(new_file.lines.next_time()))
        .text("cwd", new_file.folder())
        .text("originator", "epitome")
        .text("cli_version", "0.0.0")
        .text("source", "cli")
        .optional_field("base_instructions", instructions.as_deref())
        .optional_field("git", git.as_deref())
        .finish();
    let mut rollout = Rollout { lines: new_file.lines, ordinal: None };
    rollout.push("session_meta", &payload);
    for part in parts.items {
        rollout.push("response_item", &part.json);
        if let Some(shown) = shown(&part.json).filter(|_| new_file.continuation.is_some()) {
            rollout.push("event_msg", &shown);
        }
    }
    rollout.lines.finish()
}

/// The event by which Codex shows a message of the conversation. It lists no session in which a person has not said anything.
fn shown(item: &str) -> Option<String> {
    let item = Object::parse(item).filter(|item| item.text("type").as_deref() == Some("message"))?;
    let texts =
        item.list("content")?.into_iter().filter_map(|block| Some(Object::parse(block)?.text("text")?.into_owned()));
    let text = texts.collect::<Vec<_>>().join("\n");
    let event = match &*item.text("role")? {
        "user" => ObjectWriter::new().text("type", "user_message").text("message", &text).raw("images", "[]"),
        "assistant" => ObjectWriter::new().text("type", "agent_message").text("message", &text),
        _ => return None,
    };
    Some(event.finish())
}

/// Records behind a file.
struct Rollout {
    lines: Lines,
    /// The number of the next record, where the file's are numbered: Codex opens no such file whose last record has none.
    ordinal: Option<i64>,
}

impl Rollout {
    fn push(&mut self, kind: &str, payload: &str) {
        let time = time::format(self.lines.next_time());
        let ordinal = self.ordinal.map(|ordinal| ordinal.to_string());
        self.ordinal = self.ordinal.map(|ordinal| ordinal.saturating_add(1));
        let writer = ObjectWriter::new().text("timestamp", &time).optional_field("ordinal", ordinal.as_deref());
        self.lines.push(&writer.text("type", kind).raw("payload", payload).finish());
    }
}

/// The number of the record that comes next, where the records have numbers. Reads the file's end up to one that has.
fn next_ordinal(bytes: &[u8]) -> Option<i64> {
    let is_numbered = |record: &Object<'_>| record.has("ordinal");
    newest_objects(bytes).find(is_numbered)?.number::<i64>("ordinal")?.checked_add(1)
}

/// Whether a view holds the message in which Codex describes the machine, unedited: a summary of it is not enough.
fn shows_environment(session: &Session) -> bool {
    let as_told = |entry: &&Entry| matches!(entry.key, EntryKey::Log(_)) && !entry.is_edited();
    session.view().iter().filter(as_told).any(|entry| entry.message.plain_text().contains("<environment_context>"))
}

/// The newest records from which Codex knows how it has described itself and the machine to the model: a whole
/// `world_state`, those that changed it, and the `turn_context`. Behind a compaction without them Codex describes all
/// of it once more, in messages that no compaction removes. Empty where there is no whole description. Reads the file's
/// end up to that.
fn told_context(loaded: &LoadedFile) -> Vec<(&'static str, String)> {
    let (mut states, mut turn, mut is_whole) = (Vec::new(), None, false);
    for record in newest_records(loaded) {
        match (record.text("type").as_deref(), record.get("payload")) {
            (Some("world_state"), Some(payload)) if !is_whole => {
                is_whole = Object::parse(payload).is_some_and(|payload| payload.is_true("full"));
                states.push(("world_state", payload.to_owned()));
            }
            (Some("turn_context"), Some(payload)) if turn.is_none() => {
                turn = Some(("turn_context", payload.to_owned()))
            }
            _ => {}
        }
        if is_whole && turn.is_some() {
            break;
        }
    }
    if !is_whole {
        return Vec::new();
    }
    states.reverse();
    states.extend(turn);
    states
}

/// The tokens of a session's view: those behind its newest compaction, or in front of the first where all are undone.
fn tokens(session: &Session) -> Option<u32> {
    match newest(session) {
        Some(epoch) => epoch.tokens_after,
        None => session.journal().first()?.tokens_before,
    }
}

/// A `token_count` that says how large the context is now, in the form that Codex gives it behind its own compactions.
/// Codex takes the newest of its file for the size of the context, and compacts at once where that is over its limit.
/// `None` where the file has none: then Codex estimates. Reads the file's end up to the newest.
fn token_count(loaded: &LoadedFile, tokens: u32) -> Option<String> {
    let count = |record: Object<'_>| {
        let is_event = record.text("type").as_deref() == Some("event_msg");
        let payload = record.object("payload").filter(|_| is_event)?;
        let is_count = payload.text("type").as_deref() == Some("token_count");
        let info = payload.object("info").filter(|_| is_count)?;
        let used = info.object("last_token_usage")?;
        let used = used.fields().fold(ObjectWriter::new(), |writer, (name, _)| {
            writer.raw(name, &if name == "total_tokens" { tokens } else { 0 }.to_string())
        });
        let used = used.finish();
        let info = with_field(&info, "last_token_usage", &used);
        Some(with_field(&payload, "info", &info))
    };
    newest_records(loaded).find_map(count)
}

/// An object with another value in one of its fields.
fn with_field(object: &Object<'_>, field: &str, json: &str) -> String {
    let writer = object
        .fields()
        .fold(ObjectWriter::new(), |writer, (name, value)| writer.raw(name, if name == field { json } else { value }));
    writer.finish()
}
