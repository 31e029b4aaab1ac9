//! Messages by their numbers in the log, as a person writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Messages by their numbers in the log, both ends of a range among them.
///
/// ```
/// use epitome_session::MessageRange;
///
/// let range = |text: &str| text.parse::<MessageRange>().unwrap();
/// assert_eq!(range("#37"), MessageRange::One(37));
/// assert_eq!(range("#40-#52"), MessageRange::Span { first: 40, last: 52 });
/// assert_eq!(range("..#36"), MessageRange::Span { first: 0, last: 36 });
/// assert_eq!(range("#53..").to_string(), "#53..");
/// assert!("#52-#40".parse::<MessageRange>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MessageRange {
    /// `#37`: this message.
    One(u32),
    /// `#40-#52`, or `..#52` for all from the first on.
    Span {
        /// The first.
        first: u32,
        /// The last.
        last: u32,
    },
    /// `#53..`: this message and all behind it.
    From(u32),
}

/// A text that names no messages.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` names no messages: write #37, #40-#52, ..#36 for all up to #36, or #53.. for all from #53 on", given.escape_debug())]
pub struct MessageRangeError {
    /// The text.
    pub given: String,
}

impl MessageRange {
    /// Returns the number of its first message.
    pub fn first(self) -> u32 {
        match self {
            Self::One(first) | Self::From(first) | Self::Span { first, .. } => first,
        }
    }

    /// Returns the number of its last message; `None` where it goes to the end.
    pub fn last(self) -> Option<u32> {
        match self {
            Self::One(last) | Self::Span { last, .. } => Some(last),
            Self::From(_) => None,
        }
    }

    /// Whether it has the message of that number.
    pub fn contains(self, number: u32) -> bool {
        number >= self.first() && self.last().is_none_or(|last| number <= last)
    }

    /// Returns numbers, in ascending order, as the fewest ranges.
    pub fn runs(numbers: impl IntoIterator<Item = u32>) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for number in numbers {
            match runs.last_mut() {
                Some(run) if run.last() == number.checked_sub(1) && number > 0 => {
                    *run = Self::Span { first: run.first(), last: number };
                }
                _ => runs.push(Self::One(number)),
            }
        }
        runs
    }
}

impl FromStr for MessageRange {
    type Err = MessageRangeError;

    fn from_str(text: &str) -> Result<Self, MessageRangeError> {
        let number = |text: &str| {
            let text = text.trim();
            let digits = text.strip_prefix('#').unwrap_or(text);
            digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let span = |first: u32, last: u32| (first <= last).then_some(Self::Span { first, last });
        let ends = text.trim().split_once("..").or_else(|| text.trim().split_once(['-', '–']));
        let range = match ends {
            None => number(text).map(Self::One),
            Some((first, last)) => match (number(first), number(last)) {
                (Some(first), Some(last)) => span(first, last),
                (None, Some(last)) if first.is_empty() && text.contains("..") => span(0, last),
                (Some(first), None) if last.is_empty() && text.contains("..") => Some(Self::From(first)),
                _ => None,
            },
        };
        range.ok_or_else(|| MessageRangeError { given: text.to_owned() })
    }
}

impl fmt::Display for MessageRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(number) => write!(formatter, "#{number}"),
            Self::Span { first, last } => write!(formatter, "#{first}-#{last}"),
            Self::From(first) => write!(formatter, "#{first}.."),
        }
    }
}

impl TryFrom<String> for MessageRange {
    type Error = MessageRangeError;

    fn try_from(text: String) -> Result<Self, MessageRangeError> {
        text.parse()
    }
}

impl From<MessageRange> for String {
    fn from(range: MessageRange) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_messages() {
        let check = |text: &str, expect: Option<&str>| {
            let read = text.parse::<MessageRange>().ok().map(|range| range.to_string());
            assert_eq!(read.as_deref(), expect, "{text:?}");
        };
        check("#37", Some("#37"));
        check(" 37 ", Some("#37"));
        check("#40-#52", Some("#40-#52"));
        check("40-52", Some("#40-#52"));
        check("#40–#52", Some("#40-#52"));
        check("#40..#52", Some("#40-#52"));
        check("..#36", Some("#0-#36"));
        check("#53..", Some("#53.."));
        check("#52-#52", Some("#52-#52"));
        for bad in ["", "#", "..", "-", "#52-#40", "-5", "#5-", "a", "+7", "#4294967296", "#1-#2-#3", "##1", "#1..#"] {
            check(bad, None);
        }
    }

    #[test]
    fn numbers_as_ranges() {
        let told = |numbers: &[u32]| {
            MessageRange::runs(numbers.iter().copied()).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[0, 1, 2, 4, 6, 7]), "#0-#2 #4 #6-#7");
    }
}
