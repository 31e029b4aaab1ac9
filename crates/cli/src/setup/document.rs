//! Files of settings as text, in which one value is put or taken back, and everything else keeps its bytes: no file is
//! written anew from what was read of it.

use std::ops::Range;

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

/// A value that was put at a place, and the text that it took there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValueRecord {
    /// The syntax of the file.
    pub(crate) syntax: Syntax,
    /// The place: the names of tables from the outermost on, and that of the value.
    pub(crate) keys: Vec<String>,
    /// The value.
    pub(crate) value: Value,
    /// The text of the value that was there before; `None` where there was none.
    pub(crate) before: Option<String>,
    /// What was written: the value in place of that text, or the whole entry with what parts it from its neighbours.
    after: String,
}

/// Where a value stands in a text, or is to stand.
pub(super) enum Spot {
    /// One is there, with its text in this range.
    There(Range<usize>),
    /// None is there: the text of its entry goes in at this byte.
    Free(usize, String),
}

/// The mark that some editors put in front of UTF-8.
pub(super) const MARK: char = '\u{feff}';

impl Syntax {
    /// The value at a place; `None` where none is. The error is a sentence with the place in the text.
    pub(crate) fn value(self, text: &str, keys: &[String]) -> Result<Option<Value>, String> {
        let whole = match self {
            Self::Json => json::value(text)?,
            Self::Toml => toml::value(text)?,
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

    /// The text with a value at a place, and the record by which it is taken back. The value must not be null.
    pub(crate) fn put(self, text: &str, keys: &[String], value: &Value) -> Result<(String, ValueRecord), String> {
        let (range, after) = match self.spot(text, keys, value)? {
            Spot::There(range) => (range, self.written(value)?),
            Spot::Free(at, entry) => (at..at, entry),
        };
        let after = if text.contains("\r\n") { after.replace('\n', "\r\n") } else { after };
        let changed = format!("{}{after}{}", &text[..range.start], &text[range.end..]);
        if self.value(&changed, keys).ok().flatten().as_ref() != Some(value) {
            return Err(format!("`{}` cannot be written there", keys.join(".")));
        }
        let before = (!range.is_empty()).then(|| text[range].to_owned());
        Ok((changed, ValueRecord { syntax: self, keys: keys.to_vec(), value: value.clone(), before, after }))
    }

    fn spot(self, text: &str, keys: &[String], value: &Value) -> Result<Spot, String> {
        match self {
            Self::Json => json::spot(text, keys, value),
            Self::Toml => toml::spot(text, keys, value),
        }
    }

    fn written(self, value: &Value) -> Result<String, String> {
        match self {
            Self::Json => Ok(value.to_string()),
            Self::Toml => toml::written(value),
        }
    }

    /// Whether a text holds nothing, not even a comment.
    pub(crate) fn is_empty(self, text: &str) -> bool {
        let words: String = text.trim_start_matches(MARK).split_whitespace().collect();
        words.is_empty() || self == Self::Json && words == "{}"
    }
}

impl ValueRecord {
    /// Whether a text has the value at its place.
    pub(crate) fn is_in(&self, text: &str) -> Result<bool, String> {
        Ok(self.syntax.value(text, &self.keys)?.as_ref() == Some(&self.value))
    }

    /// The text without a value that was put there, or with the text that stood there before; `None` where the place has
    /// another value now, or the entry was written anew so that where it ends cannot be told.
    pub(crate) fn take_back(&self, text: &str) -> Result<Option<String>, String> {
        if !self.is_in(text)? {
            return Ok(None);
        }
        let entries: Vec<(usize, &str)> = text.match_indices(&self.after).collect();
        let range = match (&self.before, entries.as_slice()) {
            (Some(_), _) => self.value_range(text),
            (None, [(at, entry)]) => Some(*at..at + entry.len()),
            (None, _) if self.syntax == Syntax::Json => json::entry(text, &self.keys)?,
            (None, _) => None,
        };
        let before = self.before.as_deref().unwrap_or_default();
        Ok(range.map(|range| format!("{}{before}{}", &text[..range.start], &text[range.end..])))
    }

    /// Whether a place is as it was before a value was put there.
    pub(crate) fn is_as_before(&self, text: &str) -> Result<bool, String> {
        Ok(match &self.before {
            None => self.syntax.value(text, &self.keys)?.is_none(),
            Some(before) => self.value_range(text).is_some_and(|range| text[range] == **before),
        })
    }

    /// Where the value at the place of a record stands; `None` where none does, or a table.
    fn value_range(&self, text: &str) -> Option<Range<usize>> {
        match self.syntax.spot(text, &self.keys, &self.value) {
            Ok(Spot::There(range)) => Some(range),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
