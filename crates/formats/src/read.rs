//! Reading: recognise, then read.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::Session;

use crate::error::{ReadError, Warning};
use crate::format::Format;

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
    /// The content, decompressed.
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

/// Reads the sessions of a file. Linear in the input.
pub fn read(bytes: Vec<u8>, options: ReadOptions) -> Result<Loaded, ReadError> {
    let _ = (bytes, options);
    Err(ReadError::Empty)
}
