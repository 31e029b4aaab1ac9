//! What can go wrong with stored sessions and memories.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why something could not be stored or read.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refused something before any record was written.
    #[error("{doing} `{}`", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A new file was to be made where one exists.
    #[error("`{}` exists already: open it, or choose another name", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process, or another part of this one, has the session open.
    #[error("`{}` is in use: the process that has it open must close it first", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file does not start with the header of a stored session.
    #[error("`{}` is not a stored session: {problem}", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        problem: String,
    },
    /// The file does not start with the header of a file of memories.
    #[error("`{}` is no file of memories: {problem}", path.display())]
    NotMemories {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        problem: String,
    },
    /// A later version of the program wrote the file.
    #[error("`{}` has version {version} of the format, this program knows {known}: update the program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's version.
        version: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// A record that is followed by others cannot be read. Nothing was changed.
    #[error(
        "line {line} of `{}` is damaged: {problem}; restore the file from a copy, or cut it off before that line",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A record could not be written. What the record before it left is still there.
    #[error("writing to `{}` failed after line {lines}, up to which it is whole: free space, then open it again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Its last whole line, from 1.
        lines: u64,
        /// What the system said.
        source: io::Error,
    },
    /// An earlier write failed; the file takes no more until it is opened again.
    #[error("`{}` takes no more records since a write failed: open it again", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
    },
    /// The session in memory is not the one in the file.
    #[error("`{}` and the session are out of step: {problem}; store every message, compaction and undo in its order", path.display())]
    OutOfStep {
        /// The file.
        path: PathBuf,
        /// How they differ.
        problem: String,
    },
    /// A record cannot be written as JSON.
    #[error("a record for `{}` cannot be written as JSON", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

impl StoreError {
    /// Turns an error of the system into one that says what was being done, and to what.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, line: u64, problem: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), line, problem: problem.to_string() }
    }
}
