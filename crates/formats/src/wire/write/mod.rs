//! Writing a session: as a provider's request, or into an agent's own file.

mod agent;
mod bypass;
mod claude_code;
mod codex;
mod pi;
mod request;

use std::sync::Arc;

pub use bypass::is_bypassed;
use epitome_session::{Entry, EntryKey, Message, Origin, Role, Session};
use thiserror::Error;

use super::agents::mark::Mark;
use super::render::{Profile, Source, render};
use crate::{Format, LoadedFile};

/// Why a session could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteError {
    /// The file has no such session.
    #[error("there is no session {index}: the file holds {count}")]
    NoSuchSession {
        /// The session asked for, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The format is read and not written.
    #[error(
        "`{0}` is read and not written; openai-chat, openai-responses, anthropic, claude-code, codex and pi are written"
    )]
    NotWritable(Format),
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
    written(loaded, index, session, to, false)
}

/// An agent's own file with the record of its session's view behind it, also where the file has that already: with lines
/// between that record and the end of the file, an agent may resume from them without it, or from it without them. A file
/// of any other format stays as it is. Linear in the file.
pub fn write_again(loaded: &LoadedFile, index: usize) -> Result<Vec<u8>, WriteError> {
    let session = loaded.sessions.get(index).map(|loaded| &loaded.session);
    match (session, loaded.format) {
        (Some(session), Format::ClaudeCode | Format::Codex | Format::Pi) => {
            written(loaded, index, session, loaded.format, true)
        }
        (Some(_), _) => Ok(loaded.bytes.to_vec()),
        (None, _) => Err(WriteError::NoSuchSession { index, count: loaded.sessions.len() }),
    }
}

/// The session of `later`, which was read from the same file as `loaded` but later, with the compactions that `session` got
/// since it was read from `loaded`: what was said meanwhile follows them.
///
/// `None` where the file did more than go on: what was there reads otherwise now, or the agent compacted it itself. Linear
/// in the session.
pub fn carry_over(loaded: &LoadedFile, index: usize, session: &Session, later: &LoadedFile) -> Option<Session> {
    let before = &loaded.sessions.get(index)?.session;
    let now = &later.sessions.get(index)?.session;
    let goes_on = (loaded.format, &before.id, before.journal()) == (later.format, &now.id, now.journal())
        && now.log().starts_with(before.log())
        && session.log().len() == before.log().len();
    let mut carried = now.clone();
    (goes_on && Mark::between(before, session).apply(&mut carried)).then_some(carried)
}

fn written(
    loaded: &LoadedFile,
    index: usize,
    session: &Session,
    to: Format,
    again: bool,
) -> Result<Vec<u8>, WriteError> {
    let count = loaded.sessions.len();
    let Some(original) = loaded.sessions.get(index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let Some(source) = Source::new(loaded, index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let target = Target { loaded, index, original: &original.session, session, source: &source, again };
    if let Some(profile) = Profile::of(to) {
        if to == loaded.format {
            return Ok(request::write(&target, profile));
        }
        let rendered = render(session.view(), profile, session.tools.as_deref(), Some(&source));
        return Ok(rendered.json.into_bytes());
    }
    let own = to == loaded.format;
    match to {
        _ if own && to.is_writable() && target.is_unchanged() => Ok(loaded.bytes.to_vec()),
        Format::ClaudeCode if own => Ok(claude_code::append(&target)),
        Format::ClaudeCode => Ok(claude_code::create(&target)),
        Format::Codex if own => Ok(codex::append(&target)),
        Format::Codex => Ok(codex::create(&target)),
        Format::Pi if own => Ok(pi::append(&target)),
        Format::Pi => Ok(pi::create(&target)),
        other => Err(WriteError::NotWritable(other)),
    }
}

/// What is to be written.
struct Target<'a> {
    loaded: &'a LoadedFile,
    index: usize,
    /// The session as it was read.
    original: &'a Session,
    session: &'a Session,
    source: &'a Source<'a>,
    /// Whether the view is recorded even if nothing was committed since the file was read.
    again: bool,
}

impl Target<'_> {
    /// Whether the session is as it was read.
    fn is_unchanged(&self) -> bool {
        self.session.log().len() == self.original.log().len() && !self.is_compacted()
    }

    /// Whether the view is to be recorded: epochs were committed or undone since it was read.
    fn is_compacted(&self) -> bool {
        self.again || self.original.journal() != self.session.journal()
    }

    /// The messages that arrived since it was read.
    fn new_messages(&self) -> impl Iterator<Item = Entry> {
        let known = self.original.log().len();
        self.session.full_view().into_iter().filter(move |entry| match entry.key {
            EntryKey::Log(index) => index as usize >= known,
            EntryKey::Synthetic { .. } => false,
        })
    }
}

/// A view with its summaries on the user's side: agents' files have no other place for them.
fn on_users_side(view: &[Entry]) -> Vec<Entry> {
    let moved = |entry: &Entry| match (entry.message.role, entry.message.origin) {
        (Role::System, Origin::Summary | Origin::Notice) => {
            let message = Arc::new(Message { role: Role::User, ..Message::clone(&entry.message) });
            Entry { message, ..entry.clone() }
        }
        _ => entry.clone(),
    };
    view.iter().map(moved).collect()
}

/// Splits a leading summary off a view.
fn split_summary(view: &[Entry]) -> (Option<&Entry>, &[Entry]) {
    match view.split_first() {
        Some((first, rest)) if first.message.origin == Origin::Summary => (Some(first), rest),
        _ => (None, view),
    }
}

#[cfg(test)]
#[path = "../write_tests.rs"]
mod tests;
