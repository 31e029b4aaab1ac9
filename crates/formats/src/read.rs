//! Reading: recognise, then read.

use std::io::Read as _;
use std::sync::Arc;

use epitome_session::{Block, Content, Message, Origin, RequestLimits};
use epitome_wire::Limits;
use serde_json::Value;

use crate::Wire;
use crate::codex::inherited_rollouts::inherited_records;
use crate::error::{ReadError, Warning};
use crate::foreign::foreign_agent;
use crate::foreign_requests::foreign_request;
use crate::format::{Format, usual_model};
use crate::gzip::GzipReader;
use crate::inherited::FindFile;
use crate::input::{Probe, Shape, drop_damaged_lines, outline, parse, split};
use crate::json::value::items;
use crate::kinds::CountedRecords;
use crate::loaded::{LoadedFile, LoadedSession};
use crate::media::dialect_of_format;
use crate::model::recorded_model;
use crate::reader::{FormatReader, ReaderInput};
use crate::readers::readers;
use crate::render::dialect_of;
use crate::requests::check_messages;

/// Options of [`read`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// The format; recognised from the content without it.
    pub format: Option<Format>,
    /// Whether a damaged line is an error instead of a warning.
    pub strict: bool,
    /// Whether a file that holds only the work of an agent's helper (`agent-….jsonl` beside a session of Claude Code)
    /// is read as a session of its own, named after the session and the helper. Such a session is only for reading: it
    /// is not written back.
    pub side_chains: bool,
    /// Whether each message of a provider's form has to be one that [`check_message`](crate::check_message) passes: for
    /// messages that a program made. Without it they are read as recordings are, with what is understood of them.
    pub checked: bool,
}

/// Reads the sessions of a file: decompresses it where it is gzip, recognises the format from the content unless
/// [`ReadOptions::format`] names it, and gives at least one session. Linear in the input.
///
/// Errors where compressed input holds more than [`MAX_DECOMPRESSED`], or more members than [`MAX_MEMBERS`](crate::MAX_MEMBERS); plain input may be as large as memory allows.
/// Damaged lines of JSON-lines formats are passed over with a [`Warning`], unless [`ReadOptions::strict`] is set.
pub fn read(bytes: Vec<u8>, options: ReadOptions) -> Result<LoadedFile, ReadError> {
    read_with_inherited(bytes, options, None)
}

/// The same with the records that a session continues in other files of its agent: a fork or a revert of Codex, whose head
/// names the rollout, and a rollout in segments. `find` gives their content. Where one is not there whole, a [`Warning`] says
/// which and why, and nothing is written into the file.
pub fn read_with_inherited(
    bytes: Vec<u8>,
    options: ReadOptions,
    find: Option<FindFile<'_>>,
) -> Result<LoadedFile, ReadError> {
    let gzip = bytes.starts_with(&[0x1f, 0x8b]);
    let mut bytes = if gzip { decompress(&bytes, MAX_DECOMPRESSED)? } else { bytes };
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let bytes: Arc<[u8]> = Arc::from(bytes);
    let inherited = find.map_or(Ok(None), |find| inherited_records(&bytes, find));
    let mut warnings = Vec::new();
    let mut probe = Probe::new(split(&bytes)?);
    probe.inherited = inherited.as_ref().map(Option::as_ref).map_err(String::as_str);
    probe.side_chains = options.side_chains;
    probe.checked = options.checked;
    if options.strict {
        drop_damaged_lines(&mut probe.shape, true, &mut warnings)?;
    }
    let mut problem = probe.problem.take();
    if let (Some(_), Shape::Document(text)) = (&problem, &probe.shape) {
        probe.document = outline(text);
        if probe.document.is_null() {
            return Err(problem.take().unwrap_or(ReadError::Empty));
        }
    }
    let foreign = foreign_agent(&probe);
    if let (Some(agent), None) = (foreign, options.format) {
        return Err(ReadError::Foreign { agent });
    }
    if let (Some(form), None) = (foreign_request(&probe), options.format) {
        return Err(ReadError::ForeignRequest { form: form.name, hint: form.hint });
    }
    let asked_for = |reader: &&FormatReader| options.format.is_none_or(|format| format == reader.format);
    let mut counted = CountedRecords::default();
    let fitting = readers().filter(asked_for).filter(|reader| (reader.fits)(&probe)).find(|reader| {
        counted = reader.kinds.map_or_else(CountedRecords::default, |kinds| kinds.count(&probe.shape));
        options.format.is_some() || counted.are_mostly_known()
    });
    let is_certain = foreign.is_none() && fitting.is_some() && counted.are_mostly_known();
    // A format that is asked for is read by its most general reader where none says that it fits.
    let reader = fitting.or_else(|| options.format.and_then(|_| readers().rfind(asked_for))).ok_or_else(|| {
        let error = problem.take().or_else(|| wrong_list(&probe));
        error.unwrap_or_else(|| unrecognised_error(&probe, counted.unknown()))
    })?;
    if let Some(problem) = problem.filter(|_| reader.input == ReaderInput::Values) {
        return Err(problem);
    }
    if !options.strict && reader.input != ReaderInput::Records {
        drop_damaged_lines(&mut probe.shape, false, &mut warnings)?;
    }
    let mut sessions = (reader.read)(&probe, &mut warnings)?;
    if sessions.is_empty() {
        return Err(ReadError::malformed(reader.format, "it holds no session"));
    }
    if options.format.is_none() {
        check_content(reader, &probe, &sessions)?;
    }
    warnings.extend(counted.warning());
    let is_document = matches!(probe.shape, Shape::Document(_));
    drop(probe);
    let recorded = reader.format.wire().is_none().then(|| recorded_model(reader.format, &bytes).name).flatten();
    for loaded in &mut sessions {
        let named = loaded.model.as_deref().or(recorded.as_deref());
        loaded.session.model = named.or_else(|| usual_model(reader.format)).map(Arc::from);
        loaded.session.limits =
            wire_of(reader.format).map(|wire| request_limits(wire, loaded.session.model.as_deref()));
    }
    if sessions.iter().all(|loaded| loaded.session.log().is_empty()) {
        let message =
            format!("no message was found in it: it reads as a session of {} that nobody has spoken in", reader.format);
        warnings.push(Warning { line: None, message });
    }
    Ok(LoadedFile { format: reader.format, sessions, warnings, bytes, gzip, inherited, is_document, is_certain })
}

/// Returns what a provider takes in one request of a model beside tokens. Constant time.
pub fn request_limits(wire: Wire, model: Option<&str>) -> RequestLimits {
    let Limits { bytes, images, crowd } = wire.limits(model);
    RequestLimits { bytes, images, crowd }
}

/// The provider's interface that a format's sessions are sent to; `None` where an agent speaks to several.
fn wire_of(format: Format) -> Option<Wire> {
    let dialect = dialect_of_format(format)?;
    Wire::ALL.into_iter().find(|wire| dialect_of(*wire) == dialect)
}

/// The most bytes that compressed input may have when it is decompressed: 256 MiB, more than ten times the largest
/// session that this program is measured with. A few MB of gzip can be made to hold thousands of times as much.
pub const MAX_DECOMPRESSED: usize = 256 << 20;

/// The content of gzip, up to `most` bytes.
fn decompress(bytes: &[u8], most: usize) -> Result<Vec<u8>, ReadError> {
    let mut content = Vec::with_capacity(bytes.len().saturating_mul(5).min(most));
    match GzipReader::new(bytes).take(most as u64 + 1).read_to_end(&mut content) {
        Ok(_) if content.len() > most => Err(ReadError::TooLarge { most }),
        Ok(_) => Ok(content),
        Err(error) => Err(ReadError::Gzip { after: content.len(), error }),
    }
}

/// Refuses a file of which most gave nothing: something else wrote it, with a few names in common. Linear in the messages.
fn check_content(reader: &FormatReader, probe: &Probe<'_>, sessions: &[LoadedSession]) -> Result<(), ReadError> {
    /// So few messages tell nothing.
    const FEW: usize = 3;
    let has_content = |block: &Block| match &block.content {
        Content::Text { text } => !text.trim().is_empty(),
        Content::Opaque(_) | Content::Gone => false,
        Content::Thinking(_) | Content::ToolCall(_) | Content::ToolResult(_) | Content::Media(_) => true,
    };
    let log = || sessions.iter().flat_map(|loaded| loaded.session.log());
    let is_read = |message: &Message| message.origin == Origin::Configuration || message.blocks.iter().any(has_content);
    let given = log().filter(|message| is_read(message)).count();
    // Readers of recordings keep no message without content.
    let lists = [&probe.document, &probe.document["messages"], &probe.document["history"]];
    let listed = lists.into_iter().map(|list| items(list).len()).max().filter(|_| reader.input == ReaderInput::Values);
    let all = listed.unwrap_or_default().max(log().count());
    if all <= FEW || given * 2 >= all {
        return Ok(());
    }
    let problem = format!(
        "{} of its {all} messages hold nothing that is read of this format: another program wrote it, or a version that is \
         not known; where it is of this format, name that, and it is read with what is understood",
        all - given
    );
    Err(ReadError::malformed(reader.format, problem))
}

/// What is wrong with a list of messages that were to be checked, where no reader accepts it: it is looked at as one of chat
/// completions, which lists of plain texts are taken for.
fn wrong_list(probe: &Probe<'_>) -> Option<ReadError> {
    let is_list = matches!(&probe.document, Value::Array(items) if !items.is_empty());
    (probe.checked && is_list).then(|| check_messages(&probe.shape, Wire::OpenaiChat).err()).flatten()
}

/// The error for input that no reader accepts.
fn unrecognised_error(probe: &Probe<'_>, not_read: Option<String>) -> ReadError {
    let is_empty_list = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        other => {
            ["messages", "conversation", "input"].iter().any(|key| other[*key].as_array().is_some_and(Vec::is_empty))
        }
    };
    let empty = match &probe.shape {
        Shape::Document(_) => {
            is_empty_list(&probe.document)
                || probe.document.as_array().is_some_and(|items| items.iter().all(is_empty_list))
        }
        Shape::Lines(_) => !probe.heads.is_empty() && probe.heads.iter().all(is_empty_list),
        Shape::Text(_) => false,
    };
    if empty {
        return ReadError::NoMessages;
    }
    // Where no line at the start can be looked at, the first one shows why.
    if let (Shape::Lines(lines), []) = (&probe.shape, probe.heads.as_slice()) {
        let problem = lines.iter().find(|line| !line.json.is_empty()).and_then(|line| {
            let error = parse(line.json).err()?;
            Some(ReadError::damaged_json(line.json, line.number - 1, &error))
        });
        if let Some(problem) = problem {
            return problem;
        }
    }
    let not_read = not_read.map(|problem| format!("; most of it is {problem}")).unwrap_or_default();
    ReadError::Unrecognised { seen: describe(probe) + &not_read }
}

/// A description of an unrecognised input, for the person who gave it.
fn describe(probe: &Probe<'_>) -> String {
    let keys = |value: &Value| match value {
        Value::Object(fields) if fields.is_empty() => "an empty object".to_owned(),
        Value::Object(fields) => {
            let names: Vec<&str> = fields.keys().take(6).map(String::as_str).collect();
            format!("an object with the keys {}", names.join(", "))
        }
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::String(_) => "a string".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => "a bare value".to_owned(),
    };
    match &probe.shape {
        Shape::Document(_) => match &probe.document {
            Value::Array(items) if !items.is_empty() => {
                format!("a JSON list of {}, first {}", items.len(), keys(&items[0]))
            }
            other => format!("JSON: {}", keys(other)),
        },
        Shape::Lines(lines) => match probe.heads.first() {
            Some(first) => format!("{} JSON lines, first {}", lines.len(), keys(first)),
            None => format!("{} lines, none of them JSON", lines.len()),
        },
        Shape::Text(text) => {
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let start: String = line.chars().take(40).collect();
            format!("plain text that starts `{start}`")
        }
    }
}

#[cfg(test)]
#[path = "tests/read.rs"]
mod tests;
