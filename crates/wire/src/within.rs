//! One more question within a conversation: a request of an agent with an instruction at its end.
//!
//! System prompt, tools and messages go on byte for byte, so that the provider reads them from its cache.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::Wire;
use crate::json::{Object, ObjectWriter};
use crate::request::ANSWER_LIMITS;

/// Fields that ask for an answer of another kind than a text, or for several. None is a part of what the provider caches of
/// the messages but for the form of the answer, which a hand-off cannot have.
const IN_THE_WAY: [&str; 6] = ["response_format", "text", "n", "stop", "stop_sequences", "background"];

/// Why nothing can be asked within a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskWithinError {
    /// It is not a JSON object.
    NotJson,
    /// It has no list of messages.
    NoMessages(&'static str),
    /// The provider keeps the messages, and the request does not bring them.
    Elsewhere(&'static str),
}

impl fmt::Display for AskWithinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson => formatter.write_str("the request is not a JSON object"),
            Self::NoMessages(list) => write!(formatter, "the request has no list `{list}`"),
            Self::Elsewhere(field) => write!(formatter, "the request goes on with what the provider keeps (`{field}`)"),
        }
    }
}

impl std::error::Error for AskWithinError {}

/// `request` with `instruction` as a further message of the user, answered in text: no tool may be called, as far as that
/// can be said without losing the provider's cache, and the answer may take `answer_tokens` tokens at least. Linear in the
/// request.
///
/// # Errors
///
/// It is not a JSON object, it has no messages, or the provider keeps them.
pub fn ask_within(
    wire: Wire,
    request: &[u8],
    instruction: &str,
    answer_tokens: u32,
) -> Result<Vec<u8>, AskWithinError> {
    let fields = parse(request)?;
    if let Some(kept) = ["previous_response_id", "conversation"].into_iter().find(|name| fields.is_given(name)) {
        return Err(AskWithinError::Elsewhere(kept));
    }
    let missing = AskWithinError::NoMessages(wire.list_field());
    let list = fields.get(wire.list_field()).unwrap_or_default();
    let inside = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    let inside = inside.filter(|inside| !inside.trim().is_empty()).ok_or(missing.clone())?;
    let message = wire.user_message(instruction).ok_or(missing)?;
    let longer = format!("[{inside},{message}]");
    let mut asking = Rewriting::of(&fields);
    IN_THE_WAY.iter().for_each(|name| asking.remove(name));
    asking.put(wire.list_field(), longer);
    if let Some((name, value)) = wire.answered_in_text(&fields) {
        asking.put(name, value.to_string());
    }
    for name in ANSWER_LIMITS {
        let most = fields.get(name).and_then(|most| most.parse::<u32>().ok());
        if most.is_some_and(|most| most < answer_tokens) {
            asking.put(name, answer_tokens.to_string());
        }
    }
    if let Some((name, value)) = wire.usage_in_stream().filter(|_| fields.get("stream") == Some("true")) {
        asking.put(name, value.to_string());
    }
    Ok(asking.finish())
}

/// A request of one question, without its settings: system prompt and user's text. A service may refuse an empty text, so an
/// empty system prompt is left out.
pub fn question(wire: Wire, system: &str, user: &str) -> Map<String, Value> {
    let mut body = Map::new();
    let mut messages = Vec::new();
    match wire.system_field() {
        _ if system.is_empty() => {}
        Some(field) => drop(body.insert(field.to_owned(), json!(system))),
        None => messages.push(json!({ "role": "system", "content": system })),
    }
    messages.extend(wire.user_message(user));
    body.insert(wire.list_field().to_owned(), Value::Array(messages));
    body
}

/// A request as it is asked within.
pub(crate) fn parse(request: &[u8]) -> Result<Object<'_>, AskWithinError> {
    std::str::from_utf8(request).ok().and_then(Object::parse).ok_or(AskWithinError::NotJson)
}

/// A request with other fields; they come sorted by their names, so that the same question is the same bytes.
pub(crate) struct Rewriting<'a>(BTreeMap<&'a str, Cow<'a, str>>);

impl<'a> Rewriting<'a> {
    pub(crate) fn of(fields: &'a Object<'a>) -> Self {
        Self(fields.fields().map(|(name, json)| (name, json.into())).collect())
    }

    pub(crate) fn put(&mut self, name: &'a str, json: String) {
        self.0.insert(name, json.into());
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub(crate) fn finish(&self) -> Vec<u8> {
        self.0.iter().fold(ObjectWriter::new(), |writer, (name, json)| writer.raw(name, json)).finish().into_bytes()
    }
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

/// The status that an error in a stream would have had, by its JSON.
pub fn status_of_error(error: &Value) -> u16 {
    match error["error"]["type"].as_str().or(error["error"]["code"].as_str()).unwrap_or_default() {
        "overloaded_error" => 529,
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        "invalid_request_error" | "context_length_exceeded" => 400,
        "authentication_error" => 401,
        _ => 500,
    }
}

#[cfg(test)]
#[path = "within_tests.rs"]
mod tests;
