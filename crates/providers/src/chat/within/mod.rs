//! One more question within a conversation: a request of an agent with an instruction at its end, and the answer to it.
//!
//! System prompt, tools and messages go on byte for byte, so that the provider reads them from its cache. The answer comes
//! as the agent's own would, whole or as a stream.

mod responses;
mod stream;

use std::collections::BTreeMap;

use epitome_strategy::Tokens;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use thiserror::Error;

use super::wire::AnswerError;
use super::{ChatAnswer, ChatError, ChatErrorKind, Overflow, anthropic, is_context_overflow, openai};

/// The wire format of a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's `/chat/completions`.
    OpenaiChat,
    /// OpenAI's `/responses`.
    OpenaiResponses,
    /// Anthropic's `/v1/messages`.
    Anthropic,
}

/// Why nothing can be asked within a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AskWithinError {
    /// It is not a JSON object.
    #[error("the request is not a JSON object")]
    NotJson,
    /// It has no list of messages.
    #[error("the request has no list `{0}`")]
    NoMessages(&'static str),
    /// The provider keeps the messages, and the request does not bring them.
    #[error("the request goes on with what the provider keeps (`{0}`)")]
    Elsewhere(&'static str),
}

impl Wire {
    fn list(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Anthropic => "messages",
            Self::OpenaiResponses => "input",
        }
    }

    /// The user's message with `text`.
    fn message(self, text: &str) -> Value {
        match self {
            Self::OpenaiChat | Self::Anthropic => json!({ "role": "user", "content": text }),
            Self::OpenaiResponses => {
                json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
            }
        }
    }
}

/// Fields that ask for an answer of another kind than a text, or for several. None is a part of what the provider caches of
/// the messages but for the form of the answer, which a hand-off cannot have.
const IN_THE_WAY: [&str; 6] = ["response_format", "text", "n", "stop", "stop_sequences", "background"];

/// The fields that bound the answer's length.
const LENGTHS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// `request` with `instruction` as a further message of the user, answered in text: no tool may be called, as far as that
/// can be said without losing the provider's cache (Anthropic's covers the choice of tools), and the answer may take
/// `answer_tokens` tokens at least. Linear in the request.
pub fn ask_within(
    wire: Wire,
    request: &[u8],
    instruction: &str,
    answer_tokens: Tokens,
) -> Result<Vec<u8>, AskWithinError> {
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(request).map_err(|_| AskWithinError::NotJson)?;
    for kept in ["previous_response_id", "conversation"] {
        if fields.get(kept).is_some_and(|value| value.get() != "null") {
            return Err(AskWithinError::Elsewhere(kept));
        }
    }
    let raw = |value: Value| RawValue::from_string(value.to_string()).map_err(|_| AskWithinError::NotJson);
    let list = fields.get(wire.list()).map(|list| list.get().trim()).unwrap_or_default();
    let inside = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    let inside = inside.filter(|inside| !inside.trim().is_empty()).ok_or(AskWithinError::NoMessages(wire.list()))?;
    let longer = format!("[{inside},{}]", wire.message(instruction));
    fields.insert(wire.list().to_owned(), RawValue::from_string(longer).map_err(|_| AskWithinError::NotJson)?);
    IN_THE_WAY.iter().for_each(|name| drop(fields.remove(*name)));
    let has_tools = ["tools", "functions"].iter().any(|name| fields.contains_key(*name));
    match wire {
        Wire::Anthropic => {
            let is_forced = |choice: &RawValue| ["\"any\"", "\"tool\""].iter().any(|kind| choice.get().contains(kind));
            if fields.get("tool_choice").is_some_and(|choice| is_forced(choice)) {
                fields.insert("tool_choice".to_owned(), raw(json!({ "type": "none" }))?);
            }
        }
        Wire::OpenaiChat | Wire::OpenaiResponses if has_tools => {
            let name = if fields.contains_key("functions") { "function_call" } else { "tool_choice" };
            fields.insert(name.to_owned(), raw(json!("none"))?);
        }
        Wire::OpenaiChat | Wire::OpenaiResponses => {}
    }
    for name in LENGTHS {
        let most = fields.get(name).and_then(|most| most.get().parse::<Tokens>().ok());
        if most.is_some_and(|most| most < answer_tokens) {
            fields.insert(name.to_owned(), raw(json!(answer_tokens))?);
        }
    }
    let streams = fields.get("stream").is_some_and(|stream| stream.get() == "true");
    if wire == Wire::OpenaiChat && streams {
        fields.insert("stream_options".to_owned(), raw(json!({ "include_usage": true }))?);
    }
    serde_json::to_vec(&fields).map_err(|_| AskWithinError::NotJson)
}

/// The answer in what a provider sent with this status: a JSON object, or a stream of events. Linear in it.
///
/// # Errors
///
/// The provider refused, or the answer is not one, or a stream ended before its end. Messages hold what the provider said,
/// no address and no key.
pub fn read_answer(wire: Wire, status: u16, body: &[u8]) -> Result<ChatAnswer, ChatError> {
    let answer = answer(wire, status, body)?;
    let read = match wire {
        Wire::OpenaiChat => openai::read(&answer),
        Wire::OpenaiResponses => responses::read(&answer),
        Wire::Anthropic => anthropic::read(&answer),
    };
    read.map_err(misread)
}

/// The answer in what a provider sent with this status, whatever is in it.
pub(super) fn answer(wire: Wire, status: u16, body: &[u8]) -> Result<Value, ChatError> {
    let text = String::from_utf8_lossy(body);
    if !(200..300).contains(&status) {
        return Err(refused(status, &text));
    }
    let answer: Value = if stream::is_stream(&text) {
        stream::assemble_answer(wire, &text)?
    } else {
        serde_json::from_str(&text).map_err(|_| unreadable("the provider's answer is not JSON".to_owned()))?
    };
    if answer.get("error").is_some_and(|error| !error.is_null()) {
        return Err(refused(status, &answer.to_string()));
    }
    Ok(answer)
}

/// The error for an answer that cannot be read.
pub(super) fn misread(misread: AnswerError) -> ChatError {
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

/// The message of a refusal, in one line of at most 200 characters; empty where it has no known message.
pub fn refusal_text(body: &str) -> String {
    let said = serde_json::from_str::<Value>(body).ok();
    let said = said.as_ref().and_then(|said| {
        let error = &said["error"];
        error["message"].as_str().or(error.as_str()).or(said["message"].as_str())
    });
    let said: String = said.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    said.chars().take(200).collect()
}

#[cfg(test)]
mod tests;
