//! Stretches of a text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A stretch of a block's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextRange {
    /// Its first byte.
    pub start: u32,
    /// The byte behind its last one.
    pub end: u32,
}

impl From<Range<usize>> for TextRange {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

impl From<TextRange> for Range<usize> {
    fn from(range: TextRange) -> Self {
        range.start as usize..range.end as usize
    }
}
