//! Errors of reading.

use thiserror::Error;

use crate::check::MessageError;
use crate::format::Format;

/// Something in a file that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The line, from 1, in files that are read by the line.
    pub line: Option<usize>,
    /// The problem, for a person.
    pub message: String,
}

/// Why a file could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No format fits.
    #[error("this is not a session in a known format ({seen})")]
    Unrecognised {
        /// A description of the content.
        seen: String,
    },
    /// An agent wrote it whose files are not read, and are like those of another.
    #[error(
        "this is a session of {agent}, whose form is not read; write what was said in it as a list of messages in OpenAI's or \
         Anthropic's form, and give that (docs/formats.md lists the formats)"
    )]
    Foreign {
        /// The agent's name.
        agent: &'static str,
    },
    /// It is a request of an interface that is not read, and is like those of another.
    #[error("this is {form}, which is not read; {hint}, and give that (docs/formats.md lists the formats)")]
    ForeignRequest {
        /// What it is.
        form: &'static str,
        /// What to give in its place.
        hint: &'static str,
    },
    /// The content is not what the format asks for.
    #[error("not a valid {format} session: {problem}")]
    Malformed {
        /// The format that was recognised or asked for.
        format: &'static str,
        /// The problem, with its place.
        problem: String,
    },
    /// A message is not one of its provider's form, and is to be one.
    #[error("message {index} is none of {format}: {problem}")]
    Message {
        /// Its number in its list, from 0.
        index: usize,
        /// The format that the list is read as.
        format: &'static str,
        /// The field that is wrong, what was found there, and what is expected.
        problem: MessageError,
    },
    /// A line is damaged, and damage is to be refused.
    #[error("line {line} is damaged: {problem} (without `--strict` it would be passed over)")]
    DamagedLine {
        /// The line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// A document that cannot be parsed as a whole.
    #[error("damaged JSON at line {line}, column {column}: {problem}")]
    DamagedDocument {
        /// The line, from 1.
        line: usize,
        /// The column, in characters from 1.
        column: usize,
        /// The problem, and the next step.
        problem: String,
    },
    /// The content is compressed and cannot be decompressed.
    #[error("cannot decompress: {}", gzip_problem(.error, *.after))]
    Gzip {
        /// The number of bytes of content that came out before.
        after: usize,
        /// The system's error.
        error: std::io::Error,
    },
    /// The content is compressed, and too much comes out.
    #[error(
        "it is larger than {} MiB when it is decompressed, which no session is that was ever seen; if it is one, decompress it first",
        .most >> 20
    )]
    TooLarge {
        /// The number of bytes that may come out.
        most: usize,
    },
    /// There is nothing in it.
    #[error("the input is empty: there is no session to read; check that whatever writes it has finished")]
    Empty,
    /// It is a list of messages, or holds one, and the list is empty.
    #[error("the session holds no messages: its list is empty; give a session with at least one message")]
    NoMessages,
}

impl ReadError {
    /// The error for content that claims to be of a format and is not.
    pub(crate) fn malformed(format: Format, problem: impl Into<String>) -> Self {
        Self::Malformed { format: format.as_str(), problem: problem.into() }
    }

    /// The error for text that serde_json does not accept; `text` is behind `lines_before` lines of the file.
    pub(crate) fn damaged_json(text: &str, lines_before: usize, error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        let problem = if error.is_eof() {
            let within = said.strip_prefix("EOF while parsing ").unwrap_or("a value");
            format!("it ends too early, within {within}; the file was cut off, get the whole of it")
        } else if said.starts_with("recursion limit") {
            "nested deeper than 128 levels; flatten that value, or store it as a string".to_owned()
        } else if said.starts_with("number out of range") {
            "number out of range (the largest is about 1.8e308); correct it, or store it as a string".to_owned()
        } else {
            format!("{said}; correct it there, or get an intact copy")
        };
        let column = in_characters(text.as_bytes(), error.line(), error.column());
        Self::DamagedDocument { line: lines_before + error.line(), column, problem }
    }

    /// The error for the byte at `offset`, the first that is not UTF-8.
    pub(crate) fn not_utf8(bytes: &[u8], offset: usize) -> Self {
        let before = &bytes[..offset];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let byte = bytes.get(offset).copied().unwrap_or_default();
        let problem = format!("not UTF-8 (byte {offset} is 0x{byte:02x}); save the file as UTF-8, or mend that text");
        let column = in_characters(bytes, line, offset - line_start + 1);
        Self::DamagedDocument { line, column, problem }
    }
}

/// A column that counts bytes, up to and with the one at fault, as editors count it: in characters.
fn in_characters(bytes: &[u8], line: usize, column: usize) -> usize {
    let content = bytes.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let column = column.max(1);
    // The byte at fault counts whatever it is.
    column - content.iter().take(column - 1).filter(|byte| **byte & 0xc0 == 0x80).count()
}

fn gzip_problem(error: &std::io::Error, after: usize) -> String {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return format!("the gzip data ends too early, after {after} bytes of content; get the whole file");
    }
    if error.kind() == std::io::ErrorKind::QuotaExceeded {
        return format!("{error}; compress it as one");
    }
    format!("the gzip data is damaged after {after} bytes of content ({error}); get an intact copy")
}
