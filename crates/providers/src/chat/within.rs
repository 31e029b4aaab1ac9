//! The answer to a question within a conversation, as the agent's own would come: whole or as a stream.

use epitome_wire::anthropic::{CompactionReading, read_compaction};
use epitome_wire::{AnswerError, ChatAnswer, Events, StreamedAnswer, Wire, is_stream, refusal_text, status_of_error};
use serde_json::Value;

use super::{ChatError, ChatErrorKind, Overflow, is_context_overflow};

/// The answer in what a provider sent with this status: a JSON object, or a stream of events. Linear in it.
///
/// # Errors
///
/// The provider refused, or the answer is not one, or a stream ended before its end. Messages hold what the provider said,
/// no address and no key.
pub fn read_answer(wire: Wire, status: u16, body: &[u8]) -> Result<ChatAnswer, ChatError> {
    wire.read_answer(&answer(wire, status, body)?).map_err(misread)
}

/// The provider's answer with this status to a request for a compaction. Linear in it.
///
/// # Errors
///
/// The provider refused, or what it sent is not an answer. Messages hold what the provider said, no address and no key.
pub fn read_compacted(status: u16, body: &[u8]) -> Result<CompactionReading, ChatError> {
    read_compaction(&answer(Wire::Anthropic, status, body)?).map_err(misread)
}

/// The answer in what a provider sent with this status, whatever is in it.
fn answer(wire: Wire, status: u16, body: &[u8]) -> Result<Value, ChatError> {
    let text = String::from_utf8_lossy(body);
    if !(200..300).contains(&status) {
        return Err(refused(status, &text));
    }
    let answer: Value = if is_stream(&text) {
        assemble_answer(wire, body)?
    } else {
        serde_json::from_str(&text).map_err(|_| unreadable("the provider's answer is not JSON".to_owned()))?
    };
    if answer.get("error").is_some_and(|error| !error.is_null()) {
        return Err(refused(status, &answer.to_string()));
    }
    Ok(answer)
}

/// The answer that a stream carries. Linear.
fn assemble_answer(wire: Wire, body: &[u8]) -> Result<Value, ChatError> {
    let mut answer = StreamedAnswer::new(0);
    for event in Events::of(body) {
        if event.problem().is_some() {
            return Err(unreadable("the provider's stream holds something that is not JSON".to_owned()));
        }
        if let Some(error) = event.error() {
            return Err(refused(status_of_error(error), &error.to_string()));
        }
        wire.hear(&mut answer, &event);
    }
    match answer.has_ended() {
        true => Ok(wire.whole(&answer, wire.output(&answer))),
        false => {
            let message = "the provider's stream ended before the answer did".to_owned();
            Err(ChatError::new(ChatErrorKind::Transient, message))
        }
    }
}

/// The error for an answer that cannot be read.
fn misread(misread: AnswerError) -> ChatError {
    match misread {
        AnswerError::Wrong(problem) => unreadable(format!("the provider's answer cannot be read: {problem}")),
        AnswerError::Busy(problem) => {
            ChatError::new(ChatErrorKind::Transient, format!("the provider gave no answer: {problem}"))
        }
        AnswerError::Full => too_long(Overflow::default()),
    }
}

fn unreadable(problem: String) -> ChatError {
    ChatError::new(ChatErrorKind::Unreadable, problem)
}

fn too_long(overflow: Overflow) -> ChatError {
    let message = "the conversation is too long for one more question".to_owned();
    ChatError { overflow: Some(overflow), ..ChatError::new(ChatErrorKind::TooLong, message) }
}

/// The error for a provider's refusal, in one line.
fn refused(status: u16, body: &str) -> ChatError {
    if let Some(overflow) = is_context_overflow(status, body) {
        return too_long(overflow);
    }
    let said = refusal_text(body);
    let kind = match status {
        408 | 409 | 425 | 429 | 500..=599 => ChatErrorKind::Transient,
        _ => ChatErrorKind::Rejected,
    };
    let message = match said.as_str() {
        "" => format!("the provider answered {status}"),
        said => format!("the provider answered {status}: {said}"),
    };
    ChatError::new(kind, message)
}

#[cfg(test)]
#[path = "within_tests.rs"]
mod tests;
