//! Agents' own files, one JSON record per line: read with the compactions that they hold.

pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod mark;
pub(crate) mod pi;

use std::ops::Range;

use super::json::Object;
use crate::error::{ReadError, Warning};
use crate::input::{Line, Probe, Shape};

/// The parsed lines of an agent's file. A damaged line is reported and passed over.
fn records<'a>(
    probe: &Probe<'a>,
    format: &'static str,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(Line<'a>, Object<'a>)>, ReadError> {
    let malformed = |problem: &str| ReadError::Malformed { format, problem: problem.to_owned() };
    let single;
    let lines = match &probe.shape {
        Shape::Lines(lines) => lines,
        Shape::Document(text) => {
            // A file of one line, or one that is damaged throughout.
            let lead = text.len() - text.trim_start().len();
            single = vec![Line { number: 1, start: lead, json: text.trim() }];
            &single
        }
        Shape::Text(_) => return Err(malformed("it is text and not JSON lines")),
    };
    let mut parsed = Vec::with_capacity(lines.len());
    for line in lines {
        match serde_json::from_str(line.json) {
            Ok(object) => parsed.push((*line, object)),
            Err(error) => warnings.push(line.damage_warning(&error)),
        }
    }
    if parsed.is_empty() {
        return Err(malformed("no line is a JSON object"));
    }
    Ok(parsed)
}

/// The bytes of a record without the white space around it.
pub(crate) fn span(line: &Line<'_>) -> Range<usize> {
    let lead = line.json.len() - line.json.trim_start().len();
    line.start + lead..line.start + line.json.trim_end().len()
}

/// The values that tell what a file is: a document of one record, or the first lines.
fn heads<'p>(probe: &'p Probe<'_>) -> &'p [serde_json::Value] {
    match &probe.shape {
        Shape::Document(_) => std::slice::from_ref(&probe.document),
        Shape::Lines(_) | Shape::Text(_) => &probe.heads,
    }
}
