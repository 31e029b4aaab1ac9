//! Reading: recognise, then read.

use std::io::Read as _;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::Session;
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::{Probe, Reader, Shape, drop_damaged_lines, split};

/// How to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// The format; recognised from the content without it.
    pub format: Option<Format>,
    /// Whether a damaged line is an error and not a warning.
    pub strict: bool,
}

/// What a file holds.
#[derive(Debug)]
pub struct Loaded {
    /// The format.
    pub format: Format,
    /// The sessions, at least one.
    pub sessions: Vec<LoadedSession>,
    /// What was passed over.
    pub warnings: Vec<Warning>,
    /// The content, decompressed and without a byte order mark.
    pub bytes: Arc<[u8]>,
    /// Whether the input was compressed.
    pub gzip: bool,
}

/// One session of a file.
#[derive(Debug)]
pub struct LoadedSession {
    /// Its name in the file: an id where there is one, else its number from 0.
    pub name: String,
    /// The session.
    pub session: Session,
    /// The bytes of the file's records: [`Message::records`](epitome_session::Message::records) are positions here. Empty
    /// for formats that are not written back.
    pub records: Vec<Range<usize>>,
}

/// The readers in the order in which they are tried: formats with marks of their own before the general ones.
const TABLES: [&[Reader]; 4] =
    [crate::wire::AGENT_READERS, crate::agents::READERS, crate::dialogues::READERS, crate::wire::READERS];

/// Reads the sessions of a file: decompresses it where it is gzip, recognises the format from the content unless
/// [`ReadOptions::format`] names it, and gives at least one session. Linear in the input.
///
/// Damaged lines of JSON-lines formats are passed over with a [`Warning`], unless [`ReadOptions::strict`] is set.
pub fn read(bytes: Vec<u8>, options: ReadOptions) -> Result<Loaded, ReadError> {
    let gzip = bytes.starts_with(&[0x1f, 0x8b]);
    let mut bytes = if gzip { decompress(&bytes)? } else { bytes };
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let bytes: Arc<[u8]> = Arc::from(bytes);
    let mut warnings = Vec::new();
    let mut probe = Probe::new(split(&bytes)?);
    if options.strict {
        drop_damaged_lines(&mut probe.shape, true, &mut warnings)?;
    }
    let readers = || TABLES.iter().flat_map(|table| table.iter());
    let asked_for = |reader: &&Reader| options.format.is_none_or(|format| format == reader.format);
    let fitting = readers().filter(asked_for).find(|reader| (reader.fits)(&probe));
    // A format that is asked for is read by its most general reader where none says that it fits.
    let reader = fitting
        .or_else(|| options.format.and_then(|_| readers().rfind(asked_for)))
        .ok_or_else(|| ReadError::Unrecognised { seen: describe(&probe) })?;
    // The agents' own readers parse every line anyway and report the damaged ones themselves.
    if !options.strict && !crate::wire::AGENT_READERS.iter().any(|own| own.format == reader.format) {
        drop_damaged_lines(&mut probe.shape, false, &mut warnings)?;
    }
    let sessions = (reader.read)(&probe, &mut warnings)?;
    if sessions.is_empty() {
        let problem = "it holds no session".to_owned();
        return Err(ReadError::Malformed { format: reader.format.as_str(), problem });
    }
    drop(probe);
    Ok(Loaded { format: reader.format, sessions, warnings, bytes, gzip })
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut content = Vec::with_capacity(bytes.len() * 5);
    MultiGzDecoder::new(bytes).read_to_end(&mut content).map_err(ReadError::Gzip)?;
    Ok(content)
}

/// What an unrecognised input looks like, for the person who gave it.
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
        Shape::Document(text) => match serde_json::from_str::<&serde_json::value::RawValue>(text) {
            Ok(_) => match &probe.document {
                Value::Array(items) if !items.is_empty() => {
                    format!("a JSON list of {}, first {}", items.len(), keys(&items[0]))
                }
                other => format!("JSON: {}", keys(other)),
            },
            Err(error) => format!("damaged JSON: {error}"),
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
#[path = "read_tests.rs"]
mod tests;
