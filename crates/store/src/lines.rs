//! Reading files of JSON lines.

use serde::de::IgnoredAny;

/// One line of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The line's number, from 1.
    pub number: u64,
    /// Where it starts, in bytes.
    pub start: usize,
    /// The line's bytes without the line feed.
    pub bytes: &'a [u8],
    /// Whether a line feed ends the line: the last one may have been cut short.
    pub is_whole: bool,
}

impl Line<'_> {
    /// Whether the line was written completely: a whole line of JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_whole && serde_json::from_slice::<IgnoredAny>(self.bytes).is_ok()
    }
}

/// The lines of a file, in order. Linear.
pub(crate) fn lines<'a>(bytes: &'a [u8]) -> Vec<Line<'a>> {
    let mut start = 0;
    let line = |(index, line): (usize, &'a [u8])| {
        let stripped = line.strip_suffix(b"\n");
        let here = start;
        start += line.len();
        Line { number: index as u64 + 1, start: here, bytes: stripped.unwrap_or(line), is_whole: stripped.is_some() }
    };
    bytes.split_inclusive(|byte| *byte == b'\n').enumerate().map(line).collect()
}
