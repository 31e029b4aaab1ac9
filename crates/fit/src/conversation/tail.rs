//! Messages behind the decisions are sent as they came.
//!
//! For Anthropic, the renderer leaves out reasoning behind an edited prefix, for it cannot know when it was written. Here it
//! is known: reasoning that a decision did not take out was written by a model that saw this very prefix, or belongs to a
//! loop of tools that is still going on. It stays, and so do the bytes of the request from one turn to the next.

use epitome::formats::{LoadedFile, Source, Wire, render};
use epitome::session::{Role, Session};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The list of a request.
#[derive(Deserialize)]
struct Messages<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

/// `written`, the request with compacted messages, with the messages that came behind the last change as they came.
/// `written` itself where there is nothing to do, or where it is not certain which messages these are. Linear in the request.
pub(super) fn as_it_came(written: String, loaded: &LoadedFile, session: &Session) -> String {
    if loaded.format.wire() != Some(Wire::Anthropic) {
        return written;
    }
    match splice_tail(&written, loaded, session) {
        Some(spliced) => spliced,
        None => written,
    }
}

fn splice_tail(written: &str, loaded: &LoadedFile, session: &Session) -> Option<String> {
    let read = loaded.sessions.first()?;
    let view = session.view();
    let untouched = view.iter().rev().take_while(|entry| entry.is_in_place()).count();
    // From a message of the model on: a user's messages may be merged with their neighbours.
    let of_model = |message: &epitome::session::Message| message.role == Role::Assistant;
    let first = view.len() - untouched;
    let first = first + view[first..].iter().position(|entry| of_model(&entry.message))?;
    // The rendering in front of it has to be equal to what was written in front of it.
    let head = render(&view[..first], Wire::Anthropic, None, Source::new(loaded, 0).as_ref()).json;
    let (head, found): (Messages<'_>, Messages<'_>) = (parse_messages(&head)?, parse_messages(written)?);
    let same = head.messages.iter().zip(&found.messages).all(|(one, other)| one.get() == other.get());
    let (from, last) = (found.messages.get(head.messages.len())?, found.messages.last()?);
    let start = *view[first].message.records.first()?;
    let end = *view.last()?.message.records.last()?;
    let came = read.records.get(start as usize)?.start..read.records.get(end as usize)?.end;
    let came = std::str::from_utf8(loaded.bytes.get(came)?).ok()?;
    // The offsets of the borrowed messages in the text that they were borrowed from.
    let at = |message: &RawValue| (message.get().as_ptr() as usize).checked_sub(written.as_ptr() as usize);
    let (before, behind) = (written.get(..at(from)?)?, written.get(at(last)? + last.get().len()..)?);
    same.then(|| [before, came, behind].concat())
}

fn parse_messages(json: &str) -> Option<Messages<'_>> {
    serde_json::from_str(json).ok()
}
