//! Errors of stored sessions and memories.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused something before any record was written.
    #[error("{doing} `{}`", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's error.
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
        /// The first line's problem.
        problem: String,
    },
    /// The file does not start with the header of a file of memories.
    #[error("`{}` is not a file of memories: {problem}", path.display())]
    NotMemories {
        /// The file.
        path: PathBuf,
        /// The first line's problem.
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
        /// The record's problem.
        problem: String,
    },
    /// A record could not be written. What the record before it left is still there.
    #[error("writing to `{}` failed after line {lines}, up to which it is whole: free space, then open it again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The number of whole lines in the file.
        lines: u64,
        /// The system's error.
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
        /// The difference.
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
    /// The session has changed since the host loaded it. Nothing was changed.
    #[error("session `{session}` is at version {actual}, not {expected}: somebody else has changed it; load it again")]
    Conflict {
        /// The session.
        session: Arc<str>,
        /// The version that the host took it for.
        expected: u64,
        /// The version that it has.
        actual: u64,
    },
    /// The tenant has nothing of that name.
    #[error("there is no {of} `{name}`")]
    NotFound {
        /// The kind of thing that was looked for: a session, a summary.
        of: &'static str,
        /// By which name.
        name: Arc<str>,
    },
    /// The tenant has something of that name already. Nothing was changed.
    #[error("there is a {of} `{name}` already: choose another name")]
    Taken {
        /// The kind of thing that was to be made: a session, a message.
        of: &'static str,
        /// Under which name.
        name: Arc<str>,
    },
    /// The session in memory is not the stored one. Nothing was changed.
    #[error(
        "stored session `{session}` and the session are out of step: {problem}; store every message, compaction and undo in its order"
    )]
    Mismatch {
        /// The session.
        session: Arc<str>,
        /// The difference.
        problem: String,
    },
    /// The stored records of a session do not make a session.
    #[error("change {sequence} of session `{session}` is damaged: {problem}; restore the database from a copy")]
    DamagedSession {
        /// The session.
        session: Arc<str>,
        /// Which of its changes, from 0.
        sequence: u64,
        /// The problem.
        problem: String,
    },
    /// A name that cannot be stored.
    #[error("`{}` cannot be the name of a {of}: {problem}", name.escape_debug())]
    Name {
        /// The kind of thing that was to be named.
        of: &'static str,
        /// The name.
        name: String,
        /// Why not.
        problem: &'static str,
    },
    /// A secret was to be stored. It was not, and this error does not hold it.
    #[error("`{field}` is not stored: {problem}")]
    Secret {
        /// Where it was.
        field: String,
        /// Why it is not stored.
        problem: &'static str,
    },
    /// The place to go on at is not one that a page ended with.
    #[error("`{}` is not the end of a page: ask with the `next` of the page before", after.escape_debug())]
    Paging {
        /// The cursor that was given.
        after: String,
    },
    /// A later version of the program has changed the tables of the database.
    #[error("the database has version {version} of the tables, this program knows {known}: update the program")]
    NewerDatabase {
        /// The database's version.
        version: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// Nothing keeps sessions there, and nothing was made.
    #[error("there is no store {at}: check the address; a service makes its store when it first starts")]
    NoStore {
        /// Where: the file, or which database; never its address, which may hold a password.
        at: String,
    },
    /// An earlier version of the program made the tables of the database, and they are not to be changed.
    #[error(
        "the database has version {version} of the tables, this program reads {known}: a service of this program brings it \
         up to date when it starts"
    )]
    OlderDatabase {
        /// The database's version.
        version: u32,
        /// The version that is read here.
        known: u32,
    },
    /// The disk or the database is full. Nothing was changed.
    #[error("the database is full: free space and try again")]
    Full {
        /// The database's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The database failed. Nothing was changed, unless the connection was lost while a change was being committed:
    /// then the version shows whether it was.
    #[error("{doing} failed")]
    Database {
        /// The operation that failed.
        doing: &'static str,
        /// The database's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store was closed.
    #[error("the store is closed: open it again")]
    Closed,
    /// Another process opened the store, and this one was forked off it.
    #[error("the store was opened before this process was forked: open it in each process")]
    Forked,
    /// A value cannot be written as JSON, or a stored one cannot be read.
    #[error("{of} is not the JSON that is stored of it")]
    Json {
        /// The kind of value.
        of: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// The address of a database is of no kind that this program was built for. The address is not repeated: it may hold a
    /// password.
    #[error("a database is named `sqlite:PATH`{}", if cfg!(feature = "postgres") { ", or `postgres://…`" } else { "; PostgreSQL is not built in" })]
    Address,
}

impl StoreError {
    /// Turns an error of the system into one with the operation and the path.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, line: u64, problem: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), line, problem: problem.to_string() }
    }
}
