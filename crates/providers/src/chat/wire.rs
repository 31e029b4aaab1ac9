//! Shared by both wire formats.

use serde_json::Value;

/// Why an answer that came as a success holds no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerError {
    /// It has another shape than the format.
    Wrong(String),
    /// The service says that it broke off.
    Busy(String),
    /// The window was full before the first word.
    Full,
}

/// A number of tokens.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|count| *count >= 0.0).map(|count| count as u64))
}

pub(super) fn has_items(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty())
}
