//! Errors on the way to a service and back.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why a service gave no answer. Messages name the address and never the key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HttpError {
    /// The environment variable that should hold the key is not set, or empty.
    #[error("no key: set the environment variable {}", named(variable))]
    NoKey {
        /// The variable's name.
        variable: String,
    },
    /// The environment variable holds blanks or characters that no key has.
    #[error("the environment variable {} does not hold a key: it has blanks or letters outside ASCII", named(variable))]
    BadKey {
        /// The variable's name.
        variable: String,
    },
    /// The file that should hold the key cannot be read, or holds something else.
    #[error("no key in the file `{}`: {problem}", path.display())]
    KeyFile {
        /// The file's path.
        path: PathBuf,
        /// The problem, without any of the file's text.
        problem: String,
    },
    /// The base address cannot be called.
    #[error("`{url}` is not the address of a service: {problem}")]
    BadUrl {
        /// The address.
        url: String,
        /// The problem.
        problem: String,
    },
    /// The client or its runtime could not be set up.
    #[error("no HTTP client: {problem}")]
    Setup {
        /// The system's error.
        problem: String,
    },
    /// Nothing answered at the address, or the connection broke.
    #[error("`{url}` cannot be reached: {problem}")]
    Unreachable {
        /// The address.
        url: String,
        /// The system's error.
        problem: String,
    },
    /// The answer did not come in time.
    #[error("`{url}` did not answer within {} s", .after.as_secs_f32())]
    Timeout {
        /// The address.
        url: String,
        /// The time that was waited.
        after: Duration,
    },
    /// The service refused.
    #[error("`{url}` answered {status}: {}", beginning(body))]
    Status {
        /// The address.
        url: String,
        /// The status code.
        status: u16,
        /// The answer's body, up to 16 kB of it. A message shows the beginning.
        body: String,
        /// The time that the service asks to wait before the next try.
        retry_after: Option<Duration>,
    },
    /// The answer is not JSON, or larger than anything that was asked for.
    #[error("`{url}` answered something unreadable: {problem}")]
    Unreadable {
        /// The address.
        url: String,
        /// The problem.
        problem: String,
    },
}

impl HttpError {
    /// Whether the same request may succeed later: the service could not be reached, took too long, or said that it is
    /// busy (408, 409, 425, 429) or broken (5xx). Not where 429 means a used-up credit, or for a request that is larger
    /// than what the service takes in a minute.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Timeout { .. } => true,
            Self::Status { status: 429, body, .. } => !is_final(body),
            Self::Status { status, .. } => matches!(status, 408 | 409 | 425 | 500..=599),
            Self::NoKey { .. }
            | Self::BadKey { .. }
            | Self::KeyFile { .. }
            | Self::BadUrl { .. }
            | Self::Setup { .. }
            | Self::Unreadable { .. } => false,
        }
    }

    /// The time that the service asked to wait, where it did.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// A variable's name in a message. What does not look like one may be the key itself, put in the wrong place: it is not shown.
fn named(variable: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if variable.bytes().all(is_name) && !variable.starts_with(|first: char| first.is_ascii_digit()) {
        format!("`{variable}`")
    } else {
        "that holds it (what stands in the place of its name looks like none and is not shown: it may be the key)"
            .to_owned()
    }
}

/// The number of characters of an answer that a message shows.
const SHOWN_CHARACTERS: usize = 300;

/// The beginning of `text`, on one line and without control characters: what a service says is shown on terminals.
pub(crate) fn beginning(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|char| !char.is_control());
    match line.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Whether "too many requests" does not mean "later". The first is OpenAI's code, the second its words and Groq's.
fn is_final(body: &str) -> bool {
    body.contains("insufficient_quota") || body.to_lowercase().contains("request too large")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_services_say_is_shown_without_control_characters() {
        assert_eq!(beginning("\u{1b}[31mred\u{1b}[0m\r\n\u{7}two\u{9b}2J\u{0}"), "[31mred[0m two2J");
        let error = HttpError::Status {
            url: "u".to_owned(),
            status: 500,
            body: "\u{1b}]0;title\u{7}no".to_owned(),
            retry_after: None,
        };
        assert_eq!(error.to_string(), "`u` answered 500: ]0;titleno");
    }

    #[test]
    fn a_key_in_the_place_of_a_variable_is_not_shown() {
        let said = |variable: &str| HttpError::NoKey { variable: variable.to_owned() }.to_string();
        assert_eq!(said("OPENAI_API_KEY"), "no key: set the environment variable `OPENAI_API_KEY`");
        for key in ["sk-proj-1a2B", "9ABC", "abcdef"] {
            let both = [said(key), HttpError::BadKey { variable: key.to_owned() }.to_string()];
            assert!(both.iter().all(|said| !said.contains(key) && said.contains("may be the key")), "{both:?}");
        }
    }
}
