//! Files of settings as text, in which one value is read, put or removed, and everything else keeps its bytes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{json, toml};

/// The syntax of a file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Syntax {
    /// JSON, in which comments and commas before a closing bracket are left alone.
    Json,
    /// TOML 1.1.
    Toml,
}

/// What a text is without: the mark at its beginning, and the ends of its lines. Its readers know neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wrapping {
    has_mark: bool,
    has_returns: bool,
}

/// The mark that some editors put in front of UTF-8.
const MARK: char = '\u{feff}';

impl Wrapping {
    /// The text without its mark, and with plain ends of lines, where all of them have a carriage return.
    fn remove(text: &str, syntax: Syntax) -> Result<(Self, Cow<'_, str>), String> {
        let plain = text.strip_prefix(MARK);
        let has_mark = plain.is_some();
        let plain = plain.unwrap_or(text);
        let (ends, returns) = (plain.matches('\n').count(), plain.matches("\r\n").count());
        if returns == 0 || ends != returns && syntax == Syntax::Json {
            return Ok((Self { has_mark, has_returns: false }, Cow::Borrowed(plain)));
        }
        if ends != returns {
            let without = ends - returns;
            return Err(format!(
                "{returns} of its lines end with CRLF, and {without} with LF: save it with one of them"
            ));
        }
        Ok((Self { has_mark, has_returns: true }, Cow::Owned(plain.replace("\r\n", "\n"))))
    }

    /// The text as it is to be in the file.
    fn put_back(self, plain: String) -> String {
        let ended = if self.has_returns { plain.replace('\n', "\r\n") } else { plain };
        if self.has_mark { format!("{MARK}{ended}") } else { ended }
    }
}

impl Syntax {
    /// The value at a place; `None` where none is. The error is a sentence with the place in the text.
    pub(crate) fn value(self, text: &str, keys: &[String]) -> Result<Option<Value>, String> {
        let (_, text) = Wrapping::remove(text, self)?;
        let whole = match self {
            Self::Json => json::value(&text)?,
            Self::Toml => toml::value(&text)?,
        };
        let mut value = &whole;
        for (depth, key) in keys.iter().enumerate() {
            let Some(table) = value.as_object() else {
                return Err(format!("`{}` is not a table", keys[..depth].join(".")));
            };
            match table.get(key) {
                Some(inner) => value = inner,
                None => return Ok(None),
            }
        }
        Ok(Some(value.clone()))
    }

    /// The text with a value at a place, and how many tables were made around it. The value must not be null.
    pub(crate) fn with(self, text: &str, keys: &[String], value: &Value) -> Result<(String, usize), String> {
        let missing = |depth: &usize| self.value(text, &keys[..*depth]).map(|found| found.is_none());
        let mut made = 0;
        for depth in 1..keys.len() {
            made += usize::from(missing(&depth)?);
        }
        let (wrapping, plain) = Wrapping::remove(text, self)?;
        let changed = match self {
            Self::Json => json::with(&plain, keys, value)?,
            Self::Toml => toml::with(&plain, keys, value)?,
        };
        let changed = wrapping.put_back(changed);
        if self.value(&changed, keys)?.as_ref() != Some(value) {
            return Err(format!("`{}` cannot be written there", keys.join(".")));
        }
        Ok((changed, made))
    }

    /// The value at a place as the text has it; `None` where nothing is, or a table of TOML.
    pub(crate) fn own_text(self, text: &str, keys: &[String]) -> Result<Option<String>, String> {
        match self {
            Self::Json => Ok(self.value(text, keys)?.map(|value| value.to_string())),
            Self::Toml => toml::own_text(&Wrapping::remove(text, self)?.1, keys),
        }
    }

    /// The text with what [`own_text`](Self::own_text) gave of an earlier one in place of the value that is there now.
    pub(crate) fn with_own_text(self, text: &str, keys: &[String], own: &str) -> Result<String, String> {
        let (wrapping, plain) = Wrapping::remove(text, self)?;
        let changed = match self {
            Self::Json => {
                let value: Value =
                    serde_json::from_str(own).map_err(|error| format!("its record is damaged: {error}"))?;
                json::with(&plain, keys, &value)?
            }
            Self::Toml => toml::with_own_text(&plain, keys, own)?,
        };
        Ok(wrapping.put_back(changed))
    }

    /// The text without the value at a place, and without up to `made` tables around it where they are empty then.
    pub(crate) fn without(self, text: &str, keys: &[String], made: usize) -> Result<String, String> {
        let (wrapping, plain) = Wrapping::remove(text, self)?;
        let mut text = self.without_place(&plain, keys)?;
        for depth in (1..keys.len()).rev().take(made) {
            let is_empty = |value: &Value| value.as_object().is_some_and(|table| table.is_empty());
            if !self.value(&text, &keys[..depth])?.as_ref().is_some_and(is_empty) {
                break;
            }
            text = self.without_place(&text, &keys[..depth])?;
        }
        Ok(wrapping.put_back(text))
    }

    fn without_place(self, text: &str, keys: &[String]) -> Result<String, String> {
        match self {
            Self::Json => json::without(text, keys),
            Self::Toml => toml::without(text, keys),
        }
    }

    /// Whether a text holds nothing, not even a comment.
    pub(crate) fn is_empty(self, text: &str) -> bool {
        let words: String = text.trim_start_matches(MARK).split_whitespace().collect();
        words.is_empty() || self == Self::Json && words == "{}"
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
