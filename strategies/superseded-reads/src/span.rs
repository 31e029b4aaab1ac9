//! The part of a file that a read shows.

use epitome_strategy::{FileAccess, FileEvent};

/// The part of a file that a read shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Span {
    /// All of it.
    Whole,
    /// Lines from the first number up to the second, which is excluded; the second is `u64::MAX` for the end of the
    /// file.
    Lines(u64, u64),
    /// A part that is not given in lines: only equal words name the same part.
    Named(String),
}

/// The most lines of a read without a limit, in the agents that have a limit.
const LINES_PER_READ: u64 = 2000;

impl Span {
    /// Returns the part that an event's `part` text names: `offset=1 limit=50`, `view_range=[1,50]`, …
    pub(crate) fn new(event: &FileEvent) -> Self {
        if event.access == FileAccess::ReadWhole || event.part.is_empty() {
            return Self::Whole;
        }
        let named = || Self::Named(event.part.clone());
        let (mut from, mut to, mut limit) = (None, None, None);
        for word in event.part.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else { return named() };
            let value = value.trim_matches('"');
            match (key, value.parse::<u64>().ok()) {
                ("offset" | "start_line", Some(line)) => from = Some(line),
                ("end_line", Some(line)) => to = Some(line.saturating_add(1)),
                ("limit", Some(lines)) => limit = Some(lines),
                ("view_range", _) => {
                    let bounds = value.trim_matches(['[', ']']).split_once(',');
                    let Some((first, last)) = bounds else { return named() };
                    let (Ok(first), Ok(last)) = (first.parse(), last.parse::<i64>()) else { return named() };
                    from = Some(first);
                    to = Some(u64::try_from(last).map_or(u64::MAX, |last| last.saturating_add(1)));
                }
                _ => return named(),
            }
        }
        let from = from.unwrap_or(0);
        Self::Lines(from, to.unwrap_or_else(|| from.saturating_add(limit.unwrap_or(LINES_PER_READ))))
    }

    /// Whether this part contains all of `other`.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole, _) => true,
            (Self::Lines(from, to), Self::Lines(first, last)) => from <= first && last <= to,
            (Self::Named(part), Self::Named(other)) => part == other,
            _ => false,
        }
    }
}
