//! Pi's file: a `compaction` entry, and the messages that stay as new entries behind it.

use std::borrow::Cow;

use epitome_session::{Arguments, Block, Content, Dialect, Entry, Media, MediaSource, Message, Role, Session};

use crate::agent_file::appended::{Lines, last_time, newest};
use crate::agent_file::mark::{FIELD, Mark};
use crate::agent_file::new_file::NewFile;
use crate::agent_file::records::objects;
use crate::json::{self, Object, ObjectWriter, quote, quote_id};
use crate::media::{absent_text, is_image};
use crate::openai_chat::write::arguments_object;
use crate::render::{Source, with_distinct_ids};
use crate::time;
use crate::write::target::{Target, split_summary};
use crate::{Format, LoadedFile, recorded_model};

/// The summary of a compaction that wrote none.
const NOTICE: &str = "Parts of the conversation so far were removed or shortened; what is left follows.";

/// The file with the compaction behind it.
pub(crate) fn append(target: &Target<'_>) -> Vec<u8> {
    let bytes = &*target.loaded.bytes;
    let lines = Lines::after(bytes, last_time(bytes));
    let mut writer = PiWriter { lines, parent: None, has_ids: true, source: Some(target.source), model: Vec::new() };
    let mut entries = 0;
    for entry in objects(bytes) {
        entries += 1;
        if entry.text("type").as_deref() == Some("session") {
            writer.has_ids = entry.get("version").is_some();
        } else if let Some(id) = entry.text("id") {
            (writer.has_ids, writer.parent) = (true, Some(id.into_owned()));
        }
        if let Some(message) = entry.object("message").filter(|it| it.text("role").as_deref() == Some("assistant")) {
            writer.model = ["api", "provider", "model"]
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), message.get(name)?.to_owned())))
                .collect();
        }
    }
    for entry in target.new_messages() {
        entries += 1;
        writer.entry(&entry, false);
    }
    if target.is_compacted() {
        let mark = Mark::between(target.original, target.session).to_json();
        writer.lines.mix(&mark);
        let view = with_distinct_ids(target.session.view());
        writer.compacted(target.session, &view, Some(&mark), entries);
    }
    writer.lines.finish()
}

/// A new file that holds the view.
///
/// `model` are the fields that name one in each answer.
pub(crate) fn create(
    session: &Session,
    view: &[Entry],
    mut new_file: NewFile<'_>,
    model: Vec<(String, String)>,
) -> Vec<u8> {
    let head = ObjectWriter::new()
        .text("type", "session")
        .raw("version", "3")
        .text("id", &new_file.id)
        .text("timestamp", &time::format(new_file.lines.next_time()))
        .text("cwd", new_file.folder())
        .finish();
    new_file.lines.push(&head);
    let mut writer = PiWriter { lines: new_file.lines, parent: None, has_ids: true, source: None, model };
    if split_summary(view).0.is_some() {
        writer.compacted(session, view, None, 1);
    } else {
        view.iter().for_each(|entry| writer.entry(entry, false));
    }
    writer.lines.finish()
}

/// The fields that name the model of a file's session. Pi keeps it where it knows it, and says so where it does not.
pub(crate) fn named_model(loaded: &LoadedFile) -> Vec<(String, String)> {
    let (api, provider) = match loaded.format {
        Format::ClaudeCode | Format::Anthropic => ("anthropic-messages", "anthropic"),
        Format::Codex | Format::OpenaiResponses => ("openai-responses", "openai"),
        _ => ("openai-completions", "unknown"),
    };
    let name = recorded_model(loaded.format, &loaded.bytes).name.unwrap_or_else(|| "unknown".to_owned());
    [("api", api), ("provider", provider), ("model", &*name)]
        .map(|(field, text)| (field.to_owned(), quote(text)))
        .to_vec()
}

struct PiWriter<'a> {
    lines: Lines,
    parent: Option<String>,
    /// Files of the first version have none.
    has_ids: bool,
    source: Option<&'a Source<'a>>,
    /// The fields that name the model, as the newest of its messages has them.
    model: Vec<(String, String)>,
}

impl PiWriter<'_> {
    /// The compaction and the view behind it; `entries` precede it in the file.
    fn compacted(&mut self, session: &Session, view: &[Entry], mark: Option<&str>, entries: usize) {
        let (summary, rest) = split_summary(view);
        let text = summary.map_or_else(|| NOTICE.to_owned(), |entry| entry.message.plain_text());
        let (read, modified) = files(session);
        let details =
            ObjectWriter::new().raw("readFiles", &quoted(&read)).raw("modifiedFiles", &quoted(&modified)).finish();
        let tokens = newest(session).and_then(|epoch| epoch.tokens_before).unwrap_or(0).to_string();
        let (id, first, parent) = (self.next_id(), self.next_id(), self.parent.take());
        let time = time::format(self.lines.next_time());
        let mut writer = ObjectWriter::new().text("type", "compaction");
        if self.has_ids {
            writer = writer.text("id", &id).raw("parentId", &parent.as_deref().map_or("null".to_owned(), quote));
        }
        writer = writer.text("timestamp", &time).text("summary", &text);
        let kept = if rest.iter().any(|entry| self.message(entry).is_some()) { &first } else { &id };
        writer = if self.has_ids {
            writer.text("firstKeptEntryId", kept)
        } else {
            writer.raw("firstKeptEntryIndex", &(entries + 1).to_string())
        };
        let entry = writer.raw("tokensBefore", &tokens).raw("details", &details).raw("fromHook", "true");
        self.lines.push(&entry.optional_field(FIELD, mark).finish());
        self.parent = Some(id);
        let mut first = Some(first);
        for entry in rest {
            self.entry_with(entry, mark.is_some(), &mut first);
        }
    }

    fn entry(&mut self, entry: &Entry, is_copy: bool) {
        self.entry_with(entry, is_copy, &mut None);
    }

    /// An entry under the next id, or the one that is given.
    fn entry_with(&mut self, entry: &Entry, is_copy: bool, given: &mut Option<String>) {
        let Some(message) = self.message(entry) else { return };
        let id = given.take().unwrap_or_else(|| self.next_id());
        let parent = self.parent.take();
        let time = time::format(self.lines.next_time());
        let mut writer = ObjectWriter::new().text("type", "message");
        if self.has_ids {
            writer = writer.text("id", &id).raw("parentId", &parent.as_deref().map_or("null".to_owned(), quote));
        }
        let mark = is_copy.then(|| ObjectWriter::new().text("copyOf", entry.message.id.as_str()).finish());
        let record =
            writer.text("timestamp", &time).raw("message", &message).optional_field(FIELD, mark.as_deref()).finish();
        self.lines.push(&record);
        self.parent = Some(id);
    }

    fn next_id(&mut self) -> String {
        self.lines.next_id()[..8].to_owned()
    }

    /// The message of an entry: its own again where it is as it was read, else rebuilt around its recorded fields.
    fn message(&self, entry: &Entry) -> Option<String> {
        let recorded = self.source.and_then(|source| source.object(entry));
        let recorded = recorded.and_then(|record| record.get("message"));
        let untouched = self.source.is_some_and(|source| source.unchanged_records(entry).is_some());
        if let Some(json) = recorded.filter(|_| untouched) {
            return Some(json.to_owned());
        }
        let message = &entry.message;
        let content = content(message);
        if content.is_empty() || message.is_system_prompt() {
            return None; // its system prompt is the agent's own, and not in its file
        }
        let content = json::join(&content);
        if let Some(recorded) = recorded.and_then(Object::parse).filter(|it| it.has("content")) {
            let call_id = message.blocks.iter().find_map(Block::as_result).map(|result| quote_id(&result.call_id));
            let rebuilt = recorded.fields().fold(ObjectWriter::new(), |writer, (name, value)| match (name, &call_id) {
                ("content", _) => writer.raw(name, &content),
                ("toolCallId", Some(id)) => writer.raw(name, id),
                _ => writer.raw(name, value),
            });
            return Some(rebuilt.finish());
        }
        let time = entry.message.timestamp.unwrap_or(0).to_string();
        let writer = match message.role {
            Role::Assistant => {
                const USAGE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;
                let writer = ObjectWriter::new().text("role", "assistant").raw("content", &content);
                let writer = self.model.iter().fold(writer, |writer, (name, value)| writer.raw(name, value));
                let calls = message.calls().next().is_some();
                writer.raw("usage", USAGE).text("stopReason", if calls { "toolUse" } else { "stop" })
            }
            Role::Tool => {
                let result = message.blocks.iter().find_map(Block::as_result)?;
                ObjectWriter::new()
                    .text("role", "toolResult")
                    .id("toolCallId", &result.call_id)
                    .text("toolName", result.name.as_deref().unwrap_or_default())
                    .raw("content", &content)
                    .raw("isError", if result.is_error { "true" } else { "false" })
            }
            Role::User | Role::System => ObjectWriter::new().text("role", "user").raw("content", &content),
        };
        Some(writer.raw("timestamp", &time).finish())
    }
}

/// The content of a message in Pi's blocks.
fn content(message: &Message) -> Vec<String> {
    message.blocks.iter().flat_map(blocks).collect()
}

fn blocks(block: &Block) -> Vec<String> {
    if let Some(raw) = block.raw.as_ref().filter(|raw| raw.dialect == Dialect::Pi) {
        return vec![raw.json.to_string()];
    }
    match &block.content {
        Content::Text { text } => vec![text_block(text)],
        Content::Thinking(thinking) => {
            let signature = thinking.signature.as_deref().map(quote);
            let writer = ObjectWriter::new().text("type", "thinking").text("thinking", &thinking.text);
            vec![writer.optional_field("thinkingSignature", signature.as_deref()).finish()]
        }
        Content::ToolCall(call) => {
            let arguments = match &call.arguments {
                Arguments::Json(text) => text.to_string(),
                text @ Arguments::Text(_) => arguments_object(text),
            };
            let writer = ObjectWriter::new().text("type", "toolCall").id("id", &call.id).text("name", &call.name);
            vec![writer.raw("arguments", &arguments).finish()]
        }
        Content::ToolResult(result) => {
            let mut blocks = vec![text_block(&result.text)];
            blocks.extend(result.attachments.iter().map(media));
            blocks
        }
        Content::Media(image) => vec![media(image)],
        Content::Opaque(opaque) if opaque.dialect == Dialect::Pi => vec![opaque.json.to_string()],
        Content::Opaque(_) | Content::Gone => Vec::new(),
    }
}

fn text_block(text: &str) -> String {
    ObjectWriter::new().text("type", "text").text("text", text).finish()
}

fn media(media: &Media) -> String {
    match &media.source {
        MediaSource::Base64(_) if !is_image(media) => text_block(&absent_text(media)),
        MediaSource::Base64(data) => {
            ObjectWriter::new().text("type", "image").text("data", data).text("mimeType", &media.mime).finish()
        }
        MediaSource::Url(url) => text_block(&format!("[image: {url}]")),
        MediaSource::Missing => text_block("[image: not recorded]"),
    }
}

/// The files that Pi's own tools read in the session, and those that they changed, each in the order of their names.
fn files(session: &Session) -> (Vec<String>, Vec<String>) {
    let (mut read, mut modified) = (Vec::new(), Vec::new());
    for (_, call) in session.log().iter().flat_map(|message| message.calls()) {
        let list = match &*call.name {
            "read" => &mut read,
            "edit" | "write" => &mut modified,
            _ => continue,
        };
        let path = Object::parse(call.arguments.text()).and_then(|arguments| arguments.text("path"));
        list.extend(path.map(Cow::into_owned));
    }
    for list in [&mut read, &mut modified] {
        list.sort_unstable();
        list.dedup();
    }
    read.retain(|path| modified.binary_search(path).is_err());
    (read, modified)
}

fn quoted(texts: &[String]) -> String {
    json::join(&texts.iter().map(|text| quote(text)).collect::<Vec<_>>())
}
