//! Agents' own files, one JSON record per line: read with the compactions that they hold.

use std::ops::Range;

use epitome_session::Session;

use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::{Line, Probe, Shape};
use crate::json::Object;
use crate::loaded::LoadedSession;

/// The parsed lines of an agent's file. A damaged line is reported and passed over.
pub(crate) fn records<'a>(
    probe: &Probe<'a>,
    format: Format,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(Line<'a>, Object<'a>)>, ReadError> {
    let single;
    let lines = match &probe.shape {
        Shape::Lines(lines) => lines,
        Shape::Document(text) => {
            // A file of one line, or one that is damaged throughout.
            let lead = text.len() - text.trim_start().len();
            single = vec![Line { number: 1, start: lead, json: text.trim() }];
            &single
        }
        Shape::Text(_) => return Err(ReadError::malformed(format, "it is text and not JSON lines")),
    };
    let mut parsed = Vec::with_capacity(lines.len());
    for line in lines {
        match serde_json::from_str(line.json) {
            Ok(object) => parsed.push((*line, object)),
            Err(error) => warnings.push(line.damage_warning(&error)),
        }
    }
    if parsed.is_empty() {
        return Err(ReadError::malformed(format, "no line is a JSON object"));
    }
    Ok(parsed)
}

/// The session of a file with the places of its records. The error says `nothing_found` where there is neither a
/// message nor the session's head in it.
pub(crate) fn loaded_session(
    format: Format,
    session: Session,
    records: Vec<Range<usize>>,
    nothing_found: &str,
) -> Result<LoadedSession, ReadError> {
    if session.log().is_empty() && session.id.is_none() {
        return Err(ReadError::malformed(format, nothing_found));
    }
    let name = session.id.as_deref().unwrap_or("0").to_owned();
    Ok(LoadedSession { name, session, records, model: None })
}

/// The records of a file, the oldest first, without the damaged ones.
pub(crate) fn objects(bytes: &[u8]) -> impl Iterator<Item = Object<'_>> {
    bytes.split(|byte| *byte == b'\n').filter_map(object)
}

/// The records of a file, the newest first, without the damaged ones.
pub(crate) fn newest_objects(bytes: &[u8]) -> impl Iterator<Item = Object<'_>> {
    bytes.rsplit(|byte| *byte == b'\n').filter_map(object)
}

fn object(line: &[u8]) -> Option<Object<'_>> {
    Object::parse(std::str::from_utf8(line).ok()?.trim())
}

/// The bytes of a record without the white space around it.
pub(crate) fn span(line: &Line<'_>) -> Range<usize> {
    let lead = line.json.len() - line.json.trim_start().len();
    line.start + lead..line.start + line.json.trim_end().len()
}

/// The values that tell what a file is: a document of one record, or the first lines.
pub(crate) fn heads<'p>(probe: &'p Probe<'_>) -> &'p [serde_json::Value] {
    match &probe.shape {
        Shape::Document(_) => std::slice::from_ref(&probe.document),
        Shape::Lines(_) | Shape::Text(_) => &probe.heads,
    }
}
