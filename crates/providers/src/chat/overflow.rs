//! Recognises services' errors that a request is longer than the model's window.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// A request that was longer than the model's window, with the figures that the service named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overflow {
    /// Tokens that the service takes.
    pub limit: Option<u32>,
    /// Tokens that were sent, with those of the answer where the service counts them in.
    pub actual: Option<u32>,
}

/// Returns the services of `overflow.txt`, each with the sign of its message.
fn signs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("overflow.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" = "))
}

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| signs().filter_map(|(_, sign)| pattern(sign).ok()).collect());

fn pattern(sign: &str) -> Result<Regex, regex::Error> {
    let figures = ["limit", "actual", "more"];
    let named = |sign: String, name: &&str| sign.replace(&format!("<{name}>"), &format!(r"(?<{name}>\d[\d,]*)"));
    Regex::new(&format!("(?is){}", figures.iter().fold(sign.to_owned(), named)))
}

/// The number of bytes that are read of an answer that is not JSON.
const READ_BYTES: usize = 16 * 1024;

/// Whether a service's answer says that the request was longer than the model's window, and the figures where it names them.
///
/// `status` is the answer's status code; `body` its body, or the data of an error event in a stream (whose status is 200).
/// A service that is busy (429) is only meant where it says that the request alone is more than a minute's share. Looks at
/// messages and codes, never at what a service repeats of the request. Linear in `body`.
pub fn is_context_overflow(status: u16, body: &str) -> Option<Overflow> {
    let said = AnswerTexts::parse(body);
    let may_be = match status {
        // Only an answer that reports an error is one.
        200..300 => said.is_error,
        401..=404 => false,
        429 => said.texts.iter().any(|text| text.to_lowercase().contains("request too large")),
        _ => true,
    };
    if !may_be {
        return None;
    }
    let mut found = (status == 413).then(Overflow::default);
    for text in &said.texts {
        for captures in PATTERNS.iter().filter_map(|pattern| pattern.captures(text)) {
            let figure = |name: &str| captures.name(name)?.as_str().replace(',', "").parse::<u32>().ok();
            let actual = figure("actual").map(|actual| actual.saturating_add(figure("more").unwrap_or(0)));
            let overflow = found.get_or_insert_default();
            overflow.limit = overflow.limit.or_else(|| figure("limit"));
            overflow.actual = overflow.actual.or(actual);
        }
    }
    let overflow = found.as_mut()?;
    overflow.limit = overflow.limit.or(said.n_ctx);
    overflow.actual = overflow.actual.or(said.n_prompt_tokens);
    found
}

/// The messages and codes in an answer, without text that it may repeat of the request.
#[derive(Debug, Default)]
pub(super) struct AnswerTexts {
    /// Messages and codes, in their order.
    pub(super) texts: Vec<String>,
    /// Which of them are messages.
    is_message: Vec<bool>,
    /// Whether the answer is JSON that reports an error.
    is_error: bool,
    n_ctx: Option<u32>,
    n_prompt_tokens: Option<u32>,
}

impl AnswerTexts {
    pub(super) fn parse(body: &str) -> Self {
        let mut said = Self::default();
        match serde_json::from_str(body) {
            Ok(json @ (Value::Object(_) | Value::Array(_))) => {
                let error = json.get("error").or_else(|| json.get(0)?.get("error"));
                said.is_error =
                    error.is_some_and(|error| !error.is_null()) || json["type"] == "error" || json["object"] == "error";
                said.collect("", &json);
            }
            _ => said.push(&body[..body.floor_char_boundary(READ_BYTES)], true),
        }
        said
    }

    /// The beginning of the messages, on one line. `redact` sees them before they are cut: half a key is no longer found.
    #[cfg(feature = "http")]
    pub(super) fn message(&self, redact: impl Fn(&str) -> String) -> String {
        let mut messages: Vec<&str> = Vec::new();
        for (text, is_message) in self.texts.iter().zip(&self.is_message) {
            if *is_message && !text.is_empty() && !messages.contains(&text.as_str()) {
                messages.push(text);
            }
        }
        crate::http::beginning(&redact(&messages.join("; ")))
    }

    fn push(&mut self, text: &str, is_message: bool) {
        self.texts.push(text.trim().to_owned());
        self.is_message.push(is_message);
    }

    fn collect(&mut self, key: &str, value: &Value) {
        let is_message = matches!(key, "error" | "message" | "detail" | "msg" | "raw" | "error_message");
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| self.collect(key, value)),
            Value::Array(items) => items.iter().for_each(|item| self.collect(key, item)),
            // Gateways pass on a service's answer as a text.
            Value::String(text) if is_message && text.trim_start().starts_with('{') => {
                match serde_json::from_str::<Value>(text) {
                    Ok(inner @ Value::Object(_)) => self.collect("", &inner),
                    _ => self.push(text, true),
                }
            }
            Value::String(text) if is_message || matches!(key, "code" | "type" | "reason" | "status") => {
                self.push(text, is_message);
            }
            Value::Number(number) => {
                let figure = number.as_u64().and_then(|figure| u32::try_from(figure).ok());
                match key {
                    "n_ctx" => self.n_ctx = figure,
                    "n_prompt_tokens" => self.n_prompt_tokens = figure,
                    _ => {}
                }
            }
            Value::String(_) | Value::Bool(_) | Value::Null => {}
        }
    }
}

#[cfg(test)]
#[path = "overflow_tests.rs"]
mod tests;
