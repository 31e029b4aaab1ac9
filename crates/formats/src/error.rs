//! What can go wrong in reading.

use thiserror::Error;

/// Something in a file that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The line, from 1, in files that are read by the line.
    pub line: Option<usize>,
    /// What is wrong with it, for a person.
    pub message: String,
}

/// Why a file could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No format fits.
    #[error(
        "this is no session in a known format ({seen}); `--from` names a format, `epitome convert --help` lists them"
    )]
    Unrecognised {
        /// What the content looks like.
        seen: String,
    },
    /// The content is not what the format asks for.
    #[error("not a valid {format} session: {problem}")]
    Malformed {
        /// The format that was recognised or asked for.
        format: &'static str,
        /// What is wrong, with its place.
        problem: String,
    },
    /// A line is damaged, and damage is to be refused.
    #[error("line {line} is damaged: {problem} (without `--strict` it would be passed over)")]
    DamagedLine {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The content is compressed and cannot be decompressed.
    #[error("cannot decompress: {0}")]
    Gzip(#[source] std::io::Error),
    /// There is nothing in it.
    #[error("the input is empty")]
    Empty,
}
