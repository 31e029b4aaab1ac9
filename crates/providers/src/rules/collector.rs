//! What every rule adds its lines to.

use epitome_strategy::Language;

use super::earlier::EarlierContent;
use super::lines::Lines;
use super::wording::pick;

/// The newest messages count most: what recency adds at most to a line's value.
const RECENCY: f32 = 1.5;

/// Lines in the making.
pub(crate) struct Collector {
    pub(crate) lines: Lines,
    pub(crate) language: Language,
    /// How many messages there are, at least 1.
    pub(crate) count: f32,
    /// Whether nobody calls a tool: then what people tell each other is the content.
    pub(crate) is_conversation: bool,
    pub(crate) earlier: EarlierContent,
}

impl Collector {
    /// What the place of a message adds to a line's value: 0 for the oldest, [`RECENCY`] for the newest.
    pub(crate) fn recency(&self, message: u32) -> f32 {
        RECENCY * (message as f32 + 1.0) / self.count
    }

    /// One of two wordings.
    pub(crate) fn pick(&self, english: &'static str, chinese: &'static str) -> &'static str {
        pick(self.language, english, chinese)
    }
}
