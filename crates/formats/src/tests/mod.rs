//! What the tests of the readers share: the tables over a text, and a session as a few lines.

#![allow(clippy::unwrap_used)]

mod classes;
pub(crate) mod corpus;
mod damage;
mod documented;
mod hostile;
mod loaded_rules;
mod page;
mod pairs;
mod recorded;
pub(crate) mod samples;

use std::fmt::Write as _;

use epitome_session::{Arguments, Change, Content, Entry, EntryKey, MediaSource, Message, Session};

use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::{Probe, shape};
use crate::loaded::LoadedSession;
use crate::reader::{FormatReader, ReaderInput};
use crate::readers::readers;
use crate::{LoadedFile, ReadOptions, read};

/// What reading gave: the formats that fit, and the sessions of the first one.
pub(crate) struct Outcome {
    pub fits: Vec<Format>,
    pub sessions: Result<Vec<LoadedSession>, ReadError>,
    pub warnings: Vec<Warning>,
}

/// Runs the readers of recordings that are not written back over an input, as `read` does with all readers.
pub(crate) fn outcome(bytes: &[u8]) -> Outcome {
    let mut warnings = Vec::new();
    let probe = match shape(bytes, false, &mut warnings) {
        Ok(shape) => Probe::new(shape),
        Err(error) => return Outcome { fits: Vec::new(), sessions: Err(error), warnings },
    };
    let fitting: Vec<&FormatReader> =
        readers().filter(|reader| reader.input == ReaderInput::Values && (reader.fits)(&probe)).collect();
    let sessions = match fitting.first() {
        Some(reader) => (reader.read)(&probe, &mut warnings),
        None => Err(ReadError::Unrecognised { seen: "no reader fits".to_owned() }),
    };
    Outcome { fits: fitting.iter().map(|reader| reader.format).collect(), sessions, warnings }
}

/// Reads `fixture` and compares the format and the sessions, as text, with `expect`.
#[track_caller]
pub(crate) fn check(fixture: &str, expect: &str) {
    let read = outcome(fixture.as_bytes());
    let mut text = String::new();
    let names: Vec<&str> = read.fits.iter().map(|format| format.as_str()).collect();
    writeln!(text, "{}", names.join(" + ")).unwrap();
    match &read.sessions {
        Ok(sessions) => sessions.iter().for_each(|session| render(&mut text, session)),
        Err(error) => writeln!(text, "error: {error}").unwrap(),
    }
    for warning in &read.warnings {
        writeln!(text, "warning: line {:?}: {}", warning.line, warning.message).unwrap();
    }
    let expect: Vec<&str> = expect.trim().lines().map(str::trim).collect();
    let got: Vec<&str> = text.trim().lines().map(str::trim).collect();
    assert_eq!(got.join("\n"), expect.join("\n"));
}

fn render(text: &mut String, loaded: &LoadedSession) {
    let session = &loaded.session;
    write!(text, "= {}", loaded.name).unwrap();
    if let Some(tools) = &session.tools {
        write!(text, " tools {tools}").unwrap();
    }
    writeln!(text).unwrap();
    for (index, message) in session.log().iter().enumerate() {
        for epoch in session.journal().iter().filter(|epoch| epoch.log_length as usize == index) {
            render_epoch(text, session, epoch);
        }
        writeln!(text, "{}", line(message)).unwrap();
    }
    for epoch in session.journal().iter().filter(|epoch| epoch.log_length as usize == session.log().len()) {
        render_epoch(text, session, epoch);
    }
    if !session.journal().is_empty() {
        let view: Vec<&str> = session.view().iter().map(|entry| entry.message.id.as_str()).collect();
        writeln!(text, "view: {}", view.join(" ")).unwrap();
    }
}

fn render_epoch(text: &mut String, session: &Session, epoch: &epitome_session::Epoch) {
    write!(text, "-- {:?}", epoch.trigger).unwrap();
    if let Some(tokens) = epoch.tokens_before {
        write!(text, " from {tokens}").unwrap();
    }
    let id = |key: EntryKey| match key {
        EntryKey::Log(index) => session.log()[index as usize].id.to_string(),
        EntryKey::Synthetic { epoch, index } => {
            session.journal()[epoch as usize].synthetics[index as usize].message.id.to_string()
        }
    };
    for change in epoch.changes() {
        match change {
            Change::Remove { entry } => write!(text, " -{}", id(*entry)).unwrap(),
            Change::Excerpt { entry, excerpt, .. } => {
                let marks: Vec<&str> = excerpt.marks.iter().map(AsRef::as_ref).collect();
                write!(text, " {}→{}", id(*entry), marks.join("|")).unwrap();
            }
            other => write!(text, " {other:?}").unwrap(),
        }
    }
    for synthetic in &epoch.synthetics {
        write!(text, " + {}", line(&synthetic.message)).unwrap();
    }
    writeln!(text).unwrap();
}

/// `id role/origin (name) @time: block ⏐ block {marked call@start} [usage]`.
fn line(message: &Message) -> String {
    let mut text = format!("{} {}/{}", message.id, message.role.as_str(), kebab(&message.origin));
    if let Some(name) = &message.name {
        write!(text, " ({name})").unwrap();
    }
    if let Some(time) = message.timestamp {
        write!(text, " @{time}").unwrap();
    }
    let blocks: Vec<String> = message.blocks.iter().map(|block| shown_block(&block.content)).collect();
    write!(text, ": {}", blocks.join(" ⏐ ")).unwrap();
    for call in &message.text_calls {
        let block = message.blocks[call.block as usize].excerptable().unwrap();
        write!(text, " {{{}@{}: {:?}}}", call.name, call.start, &block[call.start as usize..call.end as usize])
            .unwrap();
    }
    if let Some(usage) = message.usage {
        write!(text, " [{}/{}/{}→{}]", usage.input, usage.cache_read, usage.cache_write, usage.output).unwrap();
    }
    text.replace('\n', "↵")
}

fn shown_block(content: &Content) -> String {
    match content {
        Content::Text { text } => text.to_string(),
        Content::Thinking(thinking) => match &thinking.signature {
            Some(signature) => format!("(think {} signed {signature})", thinking.text),
            None => format!("(think {})", thinking.text),
        },
        Content::ToolCall(call) => match &call.arguments {
            Arguments::Json(json) => format!("{}#{} {json}", call.name, call.id),
            Arguments::Text(text) => format!("{}#{} text {text:?}", call.name, call.id),
        },
        Content::ToolResult(result) => {
            let name = result.name.as_deref().unwrap_or("?");
            let error = if result.is_error { " error" } else { "" };
            let media: String = result.attachments.iter().map(medium).collect();
            format!("{name}#{}{error} → {}{media}", result.call_id, result.text)
        }
        Content::Media(media) => medium(media),
        Content::Opaque(opaque) => format!("opaque {} {}", opaque.kind, opaque.json),
        Content::Gone => "gone".to_owned(),
    }
}

fn medium(media: &epitome_session::Media) -> String {
    match &media.source {
        MediaSource::Base64(data) => format!("<{} base64 {data}>", media.mime),
        MediaSource::Url(url) => format!("<{} {url}>", media.mime),
        MediaSource::Missing => format!("<{} missing>", media.mime),
    }
}

fn kebab(origin: &epitome_session::Origin) -> String {
    serde_json::to_value(origin).unwrap().as_str().unwrap().to_owned()
}

/// Reads a file that is right.
pub(crate) fn load(input: &str) -> LoadedFile {
    read(input.as_bytes().to_vec(), ReadOptions::default()).unwrap()
}

/// One line for a message: its role, its origin, and its blocks.
pub(crate) fn shown(message: &Message) -> String {
    let block = |content: &Content| match content {
        Content::Text { text } => text.to_string(),
        Content::Thinking(thinking) => {
            format!(
                "thinking({}{})",
                thinking.text,
                thinking.signature.as_deref().map_or(String::new(), |it| format!(";{it}"))
            )
        }
        Content::ToolCall(call) => match &call.arguments {
            Arguments::Json(json) => format!("call({} {} {json})", call.id, call.name),
            Arguments::Text(text) => format!("call({} {} text:{text})", call.id, call.name),
        },
        Content::ToolResult(result) => {
            let error = if result.is_error { "!" } else { "" };
            format!("result({} {}{error}{})", result.call_id, result.text, "+media".repeat(result.attachments.len()))
        }
        Content::Media(media) => match &media.source {
            MediaSource::Base64(data) => format!("media({} {data})", media.mime),
            MediaSource::Url(url) => format!("media({url})"),
            MediaSource::Missing => "media()".to_owned(),
        },
        Content::Opaque(opaque) => format!("opaque({})", opaque.kind),
        Content::Gone => "gone".to_owned(),
    };
    let blocks: Vec<String> = message.blocks.iter().map(|part| block(&part.content)).collect();
    format!("{}/{:?}: {}", message.role.as_str(), message.origin, blocks.join(" | "))
}

/// The messages of a view, a line each.
pub(crate) fn view(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| shown(&entry.message)).collect()
}

/// The format, the log, and the view where a compaction made it another.
#[track_caller]
pub(crate) fn check_log(format: Format, input: &str, log: &[&str], compacted: &[&str]) {
    let loaded = load(input);
    assert_eq!(loaded.format, format);
    assert_eq!(loaded.warnings, []);
    let session = &loaded.sessions[0].session;
    assert_eq!(session.log().iter().map(|message| shown(message)).collect::<Vec<_>>(), log);
    assert_eq!(view(session.view()), if compacted.is_empty() { log } else { compacted });
    for message in session.log() {
        assert!(
            !message.records.is_empty()
                && message.records.iter().all(|it| (*it as usize) < loaded.sessions[0].records.len())
        );
    }
}
