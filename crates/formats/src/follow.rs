//! Files that an agent is still writing: only the appended part is read.

use epitome_session::Session;

use crate::agent_file::records::span;
use crate::claude_code::read as claude_code;
use crate::codex::read as codex;
use crate::inherited::Inherited;
use crate::input::Line;
use crate::pi::read as pi;
use crate::{Format, LoadedFile};

/// A reader of a file of JSON lines that grows at its end: it reads on where it stopped.
///
/// After every step, [`session`](Self::session) is the session that [`read`](crate::read) gives for the whole file.
#[derive(Debug)]
pub struct Follower {
    reader: FollowReader,
    /// Bytes that were read.
    position: usize,
    /// Lines that were read.
    lines: usize,
}

#[derive(Debug)]
enum FollowReader {
    ClaudeCode(Box<claude_code::ClaudeCodeReader>),
    Codex(Box<codex::CodexReader>),
    Pi(Box<pi::PiReader>),
}

impl Follower {
    /// A follower at the start of a file. `None` for formats whose files are not appended to line by line.
    pub fn new(format: Format) -> Option<Self> {
        let reader = match format {
            Format::ClaudeCode => FollowReader::ClaudeCode(Box::default()),
            Format::Codex => FollowReader::Codex(Box::default()),
            Format::Pi => FollowReader::Pi(Box::default()),
            _ => return None,
        };
        Some(Self { reader, position: 0, lines: 0 })
    }

    /// A follower at the end of a file that was read, also along what that continues in other files (see
    /// [`read_with_inherited`](crate::read_with_inherited)). `None` for formats whose files are not appended to line by line.
    pub fn behind(loaded: &LoadedFile) -> Option<Self> {
        let mut follower = Self::new(loaded.format)?;
        follower.read_lines(&loaded.bytes, loaded.inherited.as_ref().ok().and_then(Option::as_ref));
        Some(follower)
    }

    /// The byte of the file at which it reads on.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Reads on: `appended` is the file's content from [`position`](Self::position) to its end. A last line that is not
    /// whole is left for the next time. Damaged lines are passed over. Linear in the appended part.
    pub fn read_on(&mut self, appended: &[u8]) {
        self.read_lines(appended, None);
    }

    fn read_lines(&mut self, appended: &[u8], inherited: Option<&Inherited>) {
        let mut parsed = Vec::new();
        let (mut start, mut end) = (0, 0);
        for bytes in appended.split_inclusive(|byte| *byte == b'\n') {
            let is_ended = bytes.ends_with(b"\n");
            let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let json = std::str::from_utf8(line).unwrap_or_default();
            let object = serde_json::from_str(json);
            // JSON that is whole cannot go on.
            if !is_ended && object.is_err() {
                break;
            }
            if let Ok(object) = object {
                parsed.push((Line { number: self.lines + 1, start: self.position + start, json }, object));
            }
            start += bytes.len();
            end = start;
            self.lines += usize::from(is_ended);
        }
        self.position += end;
        let mut warnings = Vec::new(); // who reads the whole has told them
        match &mut self.reader {
            FollowReader::ClaudeCode(reader) => {
                let records = parsed.iter().map(|(line, record)| (line.number, span(line), record));
                records.for_each(|(number, span, record)| reader.record(number, span, record));
            }
            FollowReader::Codex(reader) => {
                let records = parsed.iter();
                records.for_each(|(line, record)| reader.record_with(line, record, inherited, &mut warnings));
            }
            FollowReader::Pi(reader) => {
                parsed.iter().for_each(|(line, entry)| reader.entry(line, entry, &mut warnings))
            }
        }
    }

    /// Whether something of what the agent would send stands in another file that was not read along: then the whole has to be
    /// read.
    pub fn misses_history(&self) -> bool {
        matches!(&self.reader, FollowReader::Codex(reader) if reader.misses_history())
    }

    /// The session as far as it was read. Linear in its messages, not in their texts.
    pub fn session(&self) -> Session {
        match &self.reader {
            FollowReader::ClaudeCode(reader) => reader.session(),
            FollowReader::Codex(reader) => reader.session(),
            FollowReader::Pi(reader) => reader.session(),
        }
    }
}

#[cfg(test)]
#[path = "tests/follow.rs"]
mod tests;
