//! Claude Code's file: a `compact_boundary`, the summary, and the messages that stay as new records behind it.

use std::collections::HashMap;

use epitome_session::{Entry, Message, Role, Session};

use crate::agent_file::appended::{Lines, is_manual, newest};
use crate::agent_file::mark::{FIELD, Mark};
use crate::agent_file::new_file::NewFile;
use crate::agent_file::records::newest_objects;
use crate::anthropic::write as anthropic;
use crate::json::{self, Object, ObjectWriter, quote};
use crate::render::{Source, with_distinct_ids};
use crate::time;
use crate::write::target::{Target, split_summary};

/// The usage of a message that was not sent anew.
const NOTHING_USED: &str =
    r#"{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}"#;

/// The file with the compaction behind it.
pub(crate) fn append(target: &Target<'_>) -> Vec<u8> {
    let tail = Tail::read(&target.loaded.bytes);
    let mut writer = ClaudeCodeWriter {
        lines: Lines::after(&target.loaded.bytes, tail.time),
        head: tail.head,
        parent: tail.uuid,
        source: Some(target.source),
        message_ids: HashMap::new(),
    };
    for entry in target.new_messages() {
        writer.rebuilt(&entry, false);
    }
    if target.is_compacted() {
        writer.compacted(target);
    }
    writer.lines.finish()
}

/// A new file that holds the view.
pub(crate) fn create(session: &Session, view: &[Entry], new_file: NewFile<'_>) -> Vec<u8> {
    let text = |name: &str, value: &str| (name.to_owned(), quote(value));
    let head = vec![
        ("isSidechain".to_owned(), "false".to_owned()),
        text("userType", "external"),
        text("cwd", new_file.folder()),
        text("sessionId", &new_file.id),
        text("version", "2.0.0"),
        text("gitBranch", new_file.branch()),
    ];
    let mut writer =
        ClaudeCodeWriter { lines: new_file.lines, head, parent: None, source: None, message_ids: HashMap::new() };
    let (summary, rest) = split_summary(view);
    if let Some(summary) = summary {
        writer.boundary(session, None);
        writer.summary(summary, false);
    }
    for entry in rest {
        writer.rebuilt(entry, false);
    }
    writer.lines.finish()
}

/// The end of a file: what new records go on from.
struct Tail {
    uuid: Option<String>,
    time: i64,
    /// The fields that records of the session share, with their values in the newest message.
    head: Vec<(String, String)>,
}

impl Tail {
    fn read(bytes: &[u8]) -> Self {
        const SHARED: [&str; 8] =
            ["isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug", "entrypoint"];
        let mut tail = Self { uuid: None, time: 0, head: Vec::new() };
        for record in newest_objects(bytes) {
            if record.is_true("isSidechain") {
                continue;
            }
            if tail.uuid.is_none() {
                tail.uuid = record.text("uuid").map(|uuid| uuid.into_owned());
            }
            if let Some(time) = record.text("timestamp").and_then(|text| time::parse(&text)) {
                tail.time = tail.time.max(time);
            }
            if matches!(record.text("type").as_deref(), Some("user" | "assistant")) && tail.uuid.is_some() {
                let shared = SHARED.iter().filter_map(|name| Some(((*name).to_owned(), record.get(name)?.to_owned())));
                tail.head = shared.collect();
                break;
            }
        }
        tail
    }
}

struct ClaudeCodeWriter<'a> {
    lines: Lines,
    head: Vec<(String, String)>,
    parent: Option<String>,
    source: Option<&'a Source<'a>>,
    /// The ids of API messages that were recorded, each with that of its copy.
    message_ids: HashMap<String, String>,
}

impl ClaudeCodeWriter<'_> {
    fn compacted(&mut self, target: &Target<'_>) {
        let mark = Mark::between(target.original, target.session).to_json();
        self.lines.mix(&mark);
        self.boundary(target.session, Some(&mark));
        let view = with_distinct_ids(target.session.view());
        let (summary, rest) = split_summary(&view);
        if let Some(summary) = summary {
            self.summary(summary, true);
        }
        let mut at = 0;
        while let Some(entry) = rest.get(at) {
            at += match self.shared_record(&rest[at..]) {
                Some((record, count)) => {
                    self.copy(entry, record);
                    count
                }
                None => {
                    self.entry(entry);
                    1
                }
            };
        }
    }

    /// The user's record that the next entries are, and how many they are: all of it, untouched.
    fn shared_record(&self, entries: &[Entry]) -> Option<(u32, usize)> {
        let source = self.source?;
        let [record] = source.unchanged_records(entries.first()?)?[..] else { return None };
        if !is_message(source, record) {
            return None;
        }
        let count = source.members(record) as usize;
        let is_whole = entries.len() >= count
            && entries[..count].iter().all(|entry| source.unchanged_records(entry).is_some_and(|it| *it == [record]));
        is_whole.then_some((record, count))
    }

    /// An entry: its own records again where it is as it was read.
    fn entry(&mut self, entry: &Entry) {
        let source = self.source;
        let records = source.and_then(|source| source.unchanged_records(entry)).unwrap_or_default();
        let whole =
            |record: &u32| source.is_some_and(|source| source.members(*record) == 1 && is_message(source, *record));
        if records.is_empty() || !records.iter().all(whole) {
            self.rebuilt(entry, true);
            return;
        }
        for record in records {
            self.copy(entry, *record);
        }
    }

    fn copy(&mut self, entry: &Entry, record: u32) {
        let recorded = self.source.and_then(|source| source.record(record)).and_then(Object::parse);
        let Some((recorded, message)) = recorded.and_then(|it| Some((it.clone(), it.get("message")?))) else { return };
        let kind = recorded.text("type").unwrap_or_default();
        let is_meta = recorded.is_true("isMeta");
        match Object::parse(message).filter(|it| it.has("id") || it.has("usage")) {
            Some(fields) => {
                let message = self.copied(&fields, None);
                self.record(&kind, &message, is_meta, Some(entry));
            }
            None => self.record(&kind, message, is_meta, Some(entry)),
        }
    }

    /// An entry as a record of its own, its message rebuilt.
    fn rebuilt(&mut self, entry: &Entry, is_copy: bool) {
        let message = &entry.message;
        let blocks: Vec<String> = message.blocks.iter().filter_map(anthropic::block).collect();
        if blocks.is_empty() || message.is_system_prompt() {
            return; // its system prompt is the agent's own, and not in its file
        }
        let content = json::join(&blocks);
        let kind = if message.role == Role::Assistant { "assistant" } else { "user" };
        let json = match kind {
            "assistant" => self.assistant(&entry.original, &content),
            _ => ObjectWriter::new().text("role", "user").raw("content", &content).finish(),
        };
        let is_meta = message.origin == epitome_session::Origin::Injected;
        self.record(kind, &json, is_meta, is_copy.then_some(entry));
    }

    /// An assistant's message: everything but its content is as recorded, or made up where nothing was.
    fn assistant(&mut self, original: &Message, content: &str) -> String {
        let record = original.records.first().and_then(|record| self.source?.record(*record));
        let recorded = record.and_then(Object::parse).and_then(|record| record.object("message"));
        if let Some(recorded) = recorded {
            return self.copied(&recorded, Some(content));
        }
        let id = format!("msg_{}", &self.lines.next_id()[..24]);
        ObjectWriter::new()
            .text("id", &id)
            .text("type", "message")
            .text("role", "assistant")
            .text("model", "<synthetic>")
            .raw("content", content)
            .raw("stop_reason", "null")
            .raw("stop_sequence", "null")
            .raw("usage", NOTHING_USED)
            .finish()
    }

    /// A recorded message once more, with `content` where that differs. Its id is new, the same for all records of one
    /// API message: Claude Code takes all records of one id for parts of one message, so it would show the copy twice,
    /// and attach the next message to the record in front of the compaction. The usage is left out: it describes the
    /// context of that time, not the one behind the compaction.
    fn copied(&mut self, recorded: &Object<'_>, content: Option<&str>) -> String {
        let mut writer = ObjectWriter::new();
        for (name, value) in recorded.fields() {
            writer = match (name, content) {
                ("id", _) => writer.text(name, &self.message_id(value)),
                ("usage", _) => writer.raw(name, NOTHING_USED),
                ("content", Some(content)) => writer.raw(name, content),
                _ => writer.raw(name, value),
            };
        }
        writer.finish()
    }

    /// The id of the copies of an API message.
    fn message_id(&mut self, recorded: &str) -> String {
        if let Some(known) = self.message_ids.get(recorded) {
            return known.clone();
        }
        let id = format!("msg_{}", &self.lines.next_id()[..24]);
        self.message_ids.insert(recorded.to_owned(), id.clone());
        id
    }

    fn boundary(&mut self, session: &Session, mark: Option<&str>) {
        let logical = self.parent.take();
        let epoch = newest(session);
        let tokens = |tokens: Option<u32>| tokens.unwrap_or(0).to_string();
        let data = ObjectWriter::new()
            .text("trigger", if is_manual(session) { "manual" } else { "auto" })
            .raw("preTokens", &tokens(epoch.and_then(|epoch| epoch.tokens_before)))
            .raw("postTokens", &tokens(epoch.and_then(|epoch| epoch.tokens_after)))
            .finish();
        let (uuid, time) = (self.lines.next_uuid(), self.lines.next_time());
        let writer = ObjectWriter::new()
            .raw("parentUuid", "null")
            .optional_field("logicalParentUuid", logical.as_deref().map(quote).as_deref());
        let record = self
            .write_shared_fields(writer)
            .text("type", "system")
            .text("subtype", "compact_boundary")
            .text("content", "Conversation compacted")
            .raw("isMeta", "false")
            .text("timestamp", &time::format(time))
            .text("uuid", &uuid)
            .text("level", "info")
            .raw("compactMetadata", &data)
            .optional_field(FIELD, mark)
            .finish();
        self.lines.push(&record);
        self.parent = Some(uuid);
    }

    fn summary(&mut self, summary: &Entry, is_copy: bool) {
        let blocks: Vec<String> = summary.message.blocks.iter().filter_map(anthropic::block).collect();
        let text = summary.message.plain_text();
        let content = if blocks.len() == 1 && !text.is_empty() { quote(&text) } else { json::join(&blocks) };
        let message = ObjectWriter::new().text("role", "user").raw("content", &content).finish();
        let mark = is_copy.then(|| mark_of(summary));
        let (parent, uuid, time) = (self.parent.take(), self.lines.next_uuid(), self.lines.next_time());
        let writer = ObjectWriter::new().raw("parentUuid", &parent.as_deref().map_or("null".to_owned(), quote));
        let record = self
            .write_shared_fields(writer)
            .text("type", "user")
            .raw("message", &message)
            .raw("isVisibleInTranscriptOnly", "true")
            .raw("isCompactSummary", "true")
            .text("uuid", &uuid)
            .text("timestamp", &time::format(time))
            .optional_field(FIELD, mark.as_deref())
            .finish();
        self.lines.push(&record);
        self.parent = Some(uuid);
    }

    fn record(&mut self, kind: &str, message: &str, is_meta: bool, copy_of: Option<&Entry>) {
        let (parent, uuid, time) = (self.parent.take(), self.lines.next_uuid(), self.lines.next_time());
        let writer = ObjectWriter::new().raw("parentUuid", &parent.as_deref().map_or("null".to_owned(), quote));
        let record = self
            .write_shared_fields(writer)
            .text("type", kind)
            .raw("message", message)
            .optional_field("isMeta", is_meta.then_some("true"))
            .text("uuid", &uuid)
            .text("timestamp", &time::format(time))
            .optional_field(FIELD, copy_of.map(mark_of).as_deref())
            .finish();
        self.lines.push(&record);
        self.parent = Some(uuid);
    }

    fn write_shared_fields(&self, writer: ObjectWriter) -> ObjectWriter {
        self.head.iter().fold(writer, |writer, (name, value)| writer.raw(name, value))
    }
}

/// Whether a record has its message as it is sent: what was typed while the agent worked stands in other records.
fn is_message(source: &Source<'_>, record: u32) -> bool {
    source.record(record).and_then(Object::parse).is_some_and(|record| record.has("message"))
}

/// The mark of a record that repeats a message.
fn mark_of(entry: &Entry) -> String {
    ObjectWriter::new().text("copyOf", entry.message.id.as_str()).finish()
}
