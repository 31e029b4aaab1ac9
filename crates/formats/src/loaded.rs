//! The result of reading.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::Session;

use crate::error::Warning;
use crate::format::Format;
use crate::inherited::Inherited;

/// The content of a file.
#[derive(Debug)]
pub struct LoadedFile {
    /// The format.
    pub format: Format,
    /// The sessions, at least one.
    pub sessions: Vec<LoadedSession>,
    /// The parts of the file that were passed over.
    pub warnings: Vec<Warning>,
    /// The content, decompressed and without a byte order mark.
    pub bytes: Arc<[u8]>,
    /// Whether the input was compressed.
    pub gzip: bool,
    /// The records of other files that the content continues, or why they are not there.
    pub(crate) inherited: Result<Option<Inherited>, String>,
    /// Whether the content is one JSON document.
    pub(crate) is_document: bool,
    /// Whether the content is of the format for certain: nothing is written into a file of an agent otherwise.
    pub(crate) is_certain: bool,
}

impl LoadedFile {
    /// The text at a position of [`LoadedSession::records`]: the inherited records have theirs behind those of the content.
    pub(crate) fn text(&self, span: Range<usize>) -> Option<&str> {
        match &self.inherited {
            Ok(Some(inherited)) if span.start >= self.bytes.len() => inherited.text(span),
            Ok(_) | Err(_) => std::str::from_utf8(self.bytes.get(span)?).ok(),
        }
    }
}

/// One session of a file.
#[derive(Debug)]
pub struct LoadedSession {
    /// The name of the session in the file: an id where there is one, else its number from 0.
    pub name: String,
    /// The session.
    pub session: Session,
    /// The bytes of the file's records: [`Message::records`](epitome_session::Message::records) are positions here. Empty
    /// for formats that are not written back. Records of another file (see [`read_with_inherited`](crate::read_with_inherited)) are behind its end.
    pub records: Vec<Range<usize>>,
    /// The model that a request asks for; `None` where it names none, and for files of agents.
    pub model: Option<String>,
}
