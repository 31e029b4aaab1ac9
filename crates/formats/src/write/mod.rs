//! Writing a session: as a provider's request, or into an agent's own file.

mod bypass;
mod moved;
mod request;
mod rows;
pub(crate) mod target;

pub use crate::agent_file::new_file::NewSession;
pub use bypass::is_bypassed;
use epitome_session::Session;
pub use moved::{MovedSession, recorded_folder, write_moved};
use thiserror::Error;

use target::{Target, on_users_side};

use crate::agent_file::mark::Mark;
use crate::agent_file::new_file::NewFile;
use crate::render::{Source, render, with_distinct_ids};
use crate::{Format, LoadedFile, claude_code, codex, pi};

/// Why a session could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteError {
    /// The file has no such session.
    #[error("there is no session {index}: the file holds {count}")]
    NoSuchSession {
        /// The session asked for, from 0.
        index: usize,
        /// The number of sessions in the file.
        count: usize,
    },
    /// The format is read and not written.
    #[error(
        "`{0}` is read and not written; openai-chat, openai-responses, anthropic, gemini, claude-code, codex and pi are written"
    )]
    NotWritable(Format),
    /// It is not certain that the agent of this format wrote the file, and its records would stand in another agent's file.
    #[error(
        "the file is not certain to be of `{0}`: nothing is written into it; name another format, which makes a new file of it"
    )]
    Uncertain(Format),
    /// The agent would lose what stands in another file.
    #[error("the compaction cannot be written into this file: {0}")]
    Elsewhere(String),
    /// A message of the list would have to change in another way than by a shorter text.
    #[error("message {index} of the list cannot be written as a row: {problem}")]
    Row {
        /// The number of the message in the list, from 0.
        index: usize,
        /// The problem.
        problem: String,
    },
    /// A message that was added has no form in this format.
    #[error("a new message cannot be written: {0}")]
    Added(String),
}

/// Writes `session`, which is session number `index` of `loaded` after any further epochs, as a file of the format `to`.
/// Deterministic: nothing in the output comes from the clock. Linear in the file.
///
/// - In the file's own format with nothing changed: the same bytes, unless a provider's pairing of calls and results is
///   broken in it; that is repaired.
/// - A provider's format: the compacted view as a request, as [`render`] makes it. When the file is of that format, the
///   request's other fields, the separators and every untouched message stay byte for byte. Of a file with several
///   sessions only this one is written.
/// - An agent's file of the same format: the file as it is, and behind it the compaction in the agent's own records, from
///   which it resumes; the whole history stays in the file. [`read`](crate::read) brings the result back to the same full
///   view and the same compacted one.
/// - An agent's format for a session from elsewhere: the compacted view as a new file with a made-up head.
pub fn write(loaded: &LoadedFile, index: usize, session: &Session, to: Format) -> Result<Vec<u8>, WriteError> {
    write_as(loaded, index, session, to, false)
}

/// Writes `session`, which is session number `index` of `loaded` after any further epochs, as a request of the same format
/// whose messages are those that were read, row by row: a row is as it was read but for the texts that changed, a row
/// whose messages left is not there, and a message that was added is a row of its own. Nothing is repaired, merged or put
/// in front: this is for hosts that keep their messages. Everything else of the request stays as it is. Linear in the file.
///
/// # Errors
///
/// [`WriteError::Row`] where a row would have to change in another way, [`WriteError::Added`] where a new message has no
/// form; [`WriteError::NotWritable`] for a format that is not a provider's, and for a file of several requests.
pub fn write_rows(loaded: &LoadedFile, index: usize, session: &Session) -> Result<Vec<u8>, WriteError> {
    let count = loaded.sessions.len();
    let Some(original) = loaded.sessions.get(index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let Some(source) = Source::new(loaded, index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let target = Target { loaded, index, original: &original.session, session, source: &source, again: false };
    let profile = loaded.format.wire().ok_or(WriteError::NotWritable(loaded.format))?;
    request::write_rows(&target, profile)
}

/// An agent's own file with the record of its session's view behind it, also where the file has that already: with lines
/// between that record and the end of the file, an agent may resume from them without it, or from it without them. A file
/// of any other format stays as it is. Linear in the file.
pub fn write_again(loaded: &LoadedFile, index: usize) -> Result<Vec<u8>, WriteError> {
    let session = loaded.sessions.get(index).map(|loaded| &loaded.session);
    match (session, loaded.format) {
        (Some(session), Format::ClaudeCode | Format::Codex | Format::Pi) => {
            write_as(loaded, index, session, loaded.format, true)
        }
        (Some(_), _) => Ok(loaded.bytes.to_vec()),
        (None, _) => Err(WriteError::NoSuchSession { index, count: loaded.sessions.len() }),
    }
}

/// The session of `later`, which was read from the same file as `loaded` but later, with the compactions that `session`
/// got since it was read from `loaded`: what was said meanwhile follows them.
///
/// `None` where the file did more than go on: what was there reads otherwise now, or the agent compacted it itself.
/// Linear in the session.
pub fn carry_over(loaded: &LoadedFile, index: usize, session: &Session, later: &LoadedFile) -> Option<Session> {
    let before = &loaded.sessions.get(index)?.session;
    let now = &later.sessions.get(index)?.session;
    let goes_on = (loaded.format, &before.id, before.journal()) == (later.format, &now.id, now.journal())
        && now.log().starts_with(before.log())
        && session.log().len() == before.log().len();
    let mut carried = now.clone();
    (goes_on && Mark::between(before, session).apply(&mut carried)).then_some(carried)
}

fn write_as(
    loaded: &LoadedFile,
    index: usize,
    session: &Session,
    to: Format,
    again: bool,
) -> Result<Vec<u8>, WriteError> {
    let count = loaded.sessions.len();
    let Some(original) = loaded.sessions.get(index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let Some(source) = Source::new(loaded, index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let source = source.for_compacted(session);
    let target = Target { loaded, index, original: &original.session, session, source: &source, again };
    if let Some(profile) = to.wire() {
        if to == loaded.format {
            return Ok(request::write(&target, profile));
        }
        let rendered = render(session.view(), profile, session.tools.as_deref(), Some(&source));
        return Ok(rendered.json.into_bytes());
    }
    let own = to == loaded.format;
    let new_file = || NewFile::new(session, None);
    match to {
        _ if own && to.is_writable() && target.is_unchanged() => Ok(loaded.bytes.to_vec()),
        _ if own && !loaded.is_certain => Err(WriteError::Uncertain(to)),
        Format::ClaudeCode if own => Ok(claude_code::write::append(&target)),
        Format::ClaudeCode => Ok(claude_code::write::create(session, &with_distinct_ids(session.view()), new_file())),
        Format::Codex if own => match loaded.missing_history(target.original) {
            Some(problem) => Err(WriteError::Elsewhere(problem)),
            None => Ok(codex::write::append(&target)),
        },
        Format::Codex => Ok(codex::write::create(&on_users_side(session.view()), Some(&source), new_file())),
        Format::Pi if own => Ok(pi::write::append(&target)),
        Format::Pi => Ok(pi::write::create(session, &with_distinct_ids(session.view()), new_file(), Vec::new())),
        other => Err(WriteError::NotWritable(other)),
    }
}

#[cfg(test)]
pub(crate) mod tests;
