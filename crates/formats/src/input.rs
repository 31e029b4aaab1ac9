//! The input as readers see it: one JSON document, JSON lines, or plain text.

use std::collections::BTreeMap;
use std::ops::Range;

use epitome_wire::json::mend;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{ReadError, Warning};
use crate::inherited::Inherited;

/// The shape of an input.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    /// One JSON value.
    Document(&'a str),
    /// A JSON value on each line.
    Lines(Vec<Line<'a>>),
    /// Anything else.
    Text(&'a str),
}

/// A line that holds a JSON value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The line's number in the file, from 1.
    pub number: usize,
    /// The byte of the file at which the line starts.
    pub start: usize,
    /// The JSON text.
    pub json: &'a str,
}

impl Line<'_> {
    /// The bytes of the file that the line takes, without the line feed.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.start + self.json.len()
    }

    /// The warning for a line that cannot be parsed.
    pub(crate) fn damage_warning(&self, error: &serde_json::Error) -> Warning {
        Warning { line: Some(self.number), message: format!("passed over: {}", self.problem(error)) }
    }

    fn problem(&self, error: &serde_json::Error) -> String {
        if self.json.is_empty() { "not UTF-8".to_owned() } else { format!("not JSON: {error}") }
    }
}

/// Finds out the shape of `bytes`. Lines that are not UTF-8 or not JSON are still among the lines: see
/// [`drop_damaged_lines`]; readers that parse every line once anyway report them on their own.
pub(crate) fn split(bytes: &[u8]) -> Result<Shape<'_>, ReadError> {
    let first = bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace()).ok_or(ReadError::Empty)?;
    if first != b'{' && first != b'[' {
        let text = std::str::from_utf8(bytes).map_err(|error| ReadError::Unrecognised {
            seen: format!("neither JSON nor UTF-8 text: byte {} is invalid", error.valid_up_to()),
        })?;
        return Ok(Shape::Text(text));
    }
    // One JSON value on the first line and more behind it: JSON lines. Otherwise one document, pretty-printed or not.
    let head = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let behind_head = head.as_ptr() as usize - bytes.as_ptr() as usize + head.len();
    let more = !bytes[behind_head..].trim_ascii().is_empty();
    if !(more && is_json(head)) {
        match std::str::from_utf8(bytes) {
            // The cheaper question first: content of one line, or printed over many, is a document in any case.
            Ok(text) if !more || !has_json_lines(bytes) || is_json(bytes) => return Ok(Shape::Document(text)),
            Err(error) if !has_json_lines(bytes) => return Err(ReadError::not_utf8(bytes, error.valid_up_to())),
            Ok(_) | Err(_) => {}
        }
    }
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let at = start;
        start += line.len() + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        // A line that is not UTF-8 is damaged; it stays among the lines as an empty one, which no reader takes for JSON.
        let json = std::str::from_utf8(line).unwrap_or_default();
        lines.push(Line { number: index + 1, start: at, json });
    }
    Ok(Shape::Lines(lines))
}

/// The shape of `bytes` without its damaged lines.
#[cfg(test)]
pub(crate) fn shape<'a>(bytes: &'a [u8], strict: bool, warnings: &mut Vec<Warning>) -> Result<Shape<'a>, ReadError> {
    let mut shape = split(bytes)?;
    drop_damaged_lines(&mut shape, strict, warnings)?;
    Ok(shape)
}

/// Takes the lines that are not JSON out: each is reported, or with `strict` refused. Linear in the input.
pub(crate) fn drop_damaged_lines(
    shape: &mut Shape<'_>,
    strict: bool,
    warnings: &mut Vec<Warning>,
) -> Result<(), ReadError> {
    let Shape::Lines(lines) = shape else { return Ok(()) };
    let mut refused = None;
    lines.retain(|line| match serde_json::from_str::<&RawValue>(line.json) {
        Ok(_) => true,
        Err(error) => {
            if refused.is_none() && strict {
                refused = Some(ReadError::DamagedLine { line: line.number, problem: line.problem(&error) });
            }
            warnings.push(line.damage_warning(&error));
            false
        }
    });
    refused.map_or(Ok(()), Err)
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(bytes).is_ok()
}

/// Whether a damaged file is damaged JSON lines and not a damaged document: any line is a JSON object of its own. The
/// last message of a pretty-printed list can be one too, but then the list starts or ends with brackets on lines of
/// their own.
fn has_json_lines(bytes: &[u8]) -> bool {
    let content = bytes.trim_ascii();
    let opens = matches!(content, [b'{' | b'[', b'\n' | b'\r', ..]);
    let last = content.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let closes = matches!(last.first(), Some(b']' | b'}'));
    let object = |line: &[u8]| line.first() == Some(&b'{') && line.len() > 2 && is_json(line);
    !opens && !closes && bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).any(object)
}

/// Parses a value. Texts that were cut within a character are mended; that keeps the positions in errors.
pub(crate) fn parse(json: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(json).or_else(|error| mend(json).map_or(Err(error), |mended| serde_json::from_str(&mended)))
}

/// The part of JSON that recognition can see where no [`Value`] holds the whole, because a part is nested too deeply or
/// a number is too large: such parts are `Null`, as is everything that is not JSON. Reads the text once for each of the
/// outermost levels.
pub(crate) fn outline(json: &str) -> Value {
    /// A request, its messages, one of them, its content, a block, a field of it.
    const LEVELS: usize = 6;
    fn level(json: &str, left: usize) -> Value {
        if let Ok(value) = parse(json) {
            return value;
        }
        let Some(left) = left.checked_sub(1) else { return Value::Null };
        if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) {
            return items.iter().map(|item| level(item.get(), left)).collect();
        }
        let fields = serde_json::from_str::<BTreeMap<String, &RawValue>>(json);
        fields.map_or(Value::Null, |fields| {
            fields.into_iter().map(|(name, value)| (name, level(value.get(), left))).collect()
        })
    }
    level(json, LEVELS)
}

/// An input together with what recognition looks at.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    /// The input.
    pub shape: Shape<'a>,
    /// The parsed document, for [`Shape::Document`]; `Null` when it is not valid JSON.
    pub document: Value,
    /// The reason why there is no document: the problem and its place.
    pub problem: Option<ReadError>,
    /// The first lines parsed, at most 200, for [`Shape::Lines`].
    pub heads: Vec<Value>,
    /// Whether files of an agent's helpers are read as sessions: see [`ReadOptions`](crate::ReadOptions).
    pub side_chains: bool,
    /// Whether each message of a provider's form has to be one.
    pub checked: bool,
    /// The records of other files that the input continues, or why they are not there.
    pub inherited: Result<Option<&'a Inherited>, &'a str>,
}

impl<'a> Probe<'a> {
    /// Parses what recognition looks at.
    pub(crate) fn new(shape: Shape<'a>) -> Self {
        /// Enough to see what a file is; attachments can make early lines large. A few dozen lines tell, and more of them
        /// only where they are short.
        const MAX_LINES: usize = 200;
        const FEW_LINES: usize = 32;
        const ENOUGH_BYTES: usize = 1 << 16;
        const MAX_BYTES: usize = 1 << 18;
        let parsed = match &shape {
            // The plainer error comes first: a document that was cut off can be too deep as well.
            Shape::Document(text) => parse(text).map_err(|error| {
                let error = serde_json::from_str::<&RawValue>(text).err().unwrap_or(error);
                ReadError::damaged_json(text, 0, &error)
            }),
            Shape::Lines(_) | Shape::Text(_) => Ok(Value::Null),
        };
        let (document, problem) = parsed.map_or_else(|problem| (Value::Null, Some(problem)), |value| (value, None));
        let mut heads = Vec::new();
        if let Shape::Lines(lines) = &shape {
            let mut bytes = 0;
            for line in lines.iter().take(MAX_LINES) {
                heads.extend(parse(line.json));
                bytes += line.json.len();
                let are_enough = bytes > ENOUGH_BYTES && heads.len() >= FEW_LINES;
                if are_enough || (bytes > MAX_BYTES && !heads.is_empty()) {
                    break;
                }
            }
        }
        Self { shape, document, problem, heads, side_chains: false, checked: false, inherited: Ok(None) }
    }
}
