//! The state that every rule adds its lines to.

use epitome_strategy::Language;

use super::earlier::EarlierContent;
use super::lines::Lines;

/// The newest messages count most: what recency adds at most to a line's value.
const RECENCY: f32 = 1.5;

/// Lines in the making.
pub(crate) struct Collector {
    pub(crate) lines: Lines,
    pub(crate) language: Language,
    /// The number of messages, at least 1.
    pub(crate) count: f32,
    /// Whether there are no tool calls: then the messages of people are the content.
    pub(crate) is_conversation: bool,
    pub(crate) earlier: EarlierContent,
}

impl Collector {
    /// The part of a line's value that the place of its message gives: 0 for the oldest, [`RECENCY`] for the newest.
    pub(crate) fn recency(&self, message: u32) -> f32 {
        RECENCY * (message as f32 + 1.0) / self.count
    }
}
