//! Excerpts: kept byte ranges of a block's original text, and the marks that replace the rest.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::text_range::TextRange;

/// Sorted, disjoint, non-empty byte ranges of a text that stay; their ends are on character boundaries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptRanges(Vec<Range<u32>>);

/// Why a list of ranges is not a valid [`KeptRanges`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExcerptError {
    /// A range ends before it starts, or beyond the text.
    #[error("range {start}..{end} does not lie in a text of {length} bytes")]
    OutOfBounds {
        /// Start of the range.
        start: u32,
        /// End of the range.
        end: u32,
        /// Length of the text in bytes.
        length: usize,
    },
    /// A range starts before its predecessor ends.
    #[error("range {start}..{end} overlaps or precedes the one before it")]
    NotSorted {
        /// Start of the range.
        start: u32,
        /// End of the range.
        end: u32,
    },
    /// A range starts or ends inside a character.
    #[error("byte {0} is inside a character")]
    InsideCharacter(u32),
}

impl KeptRanges {
    /// Returns `ranges` once they are checked against `text`; empty ranges are left out and touching ones joined.
    /// Linear in the ranges.
    pub fn new(text: &str, ranges: &[Range<u32>]) -> Result<Self, ExcerptError> {
        let mut kept: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
        let mut last_end = 0;
        for range in ranges {
            let (start, end) = (range.start, range.end);
            if start > end || end as usize > text.len() {
                return Err(ExcerptError::OutOfBounds { start, end, length: text.len() });
            }
            if start < last_end {
                return Err(ExcerptError::NotSorted { start, end });
            }
            for bound in [start, end] {
                if !text.is_char_boundary(bound as usize) {
                    return Err(ExcerptError::InsideCharacter(bound));
                }
            }
            last_end = end;
            match kept.last_mut() {
                Some(previous) if previous.end == start => previous.end = end,
                _ if start == end => {}
                _ => kept.push(start..end),
            }
        }
        Ok(Self(kept))
    }

    /// Returns the ranges.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.0
    }

    /// Returns the gaps in a text of `length` bytes: what is not kept, in order.
    pub fn gaps(&self, length: usize) -> Vec<Range<u32>> {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut at = 0;
        for range in &self.0 {
            if range.start > at {
                gaps.push(at..range.start);
            }
            at = range.end;
        }
        if (at as usize) < length {
            gaps.push(at..length as u32);
        }
        gaps
    }

    /// Returns the kept ranges joined with the gaps shorter than `min_gap` bytes, for which a mark would cost more than
    /// it saves.
    pub fn fill_gaps(&self, length: usize, min_gap: u32) -> Self {
        let mut ranges = self.0.clone();
        ranges.extend(self.gaps(length).into_iter().filter(|gap| gap.end - gap.start < min_gap));
        ranges.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(previous) if previous.end >= range.start => previous.end = range.end.max(previous.end),
                _ => joined.push(range),
            }
        }
        Self(joined)
    }
}

/// A block's excerpt: the kept ranges of its original text, and one mark for each gap.
///
/// Ranges always refer to the *original* text, however often the block was excerpted, so that marks never nest, their
/// counts stay true and the recall handle stays the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The kept ranges.
    pub kept: KeptRanges,
    /// The text that replaces each gap, in order; as many as there are gaps.
    pub marks: Vec<Arc<str>>,
    /// The text that replaces the block's images and documents, where they leave with the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Arc<str>>,
}

impl Excerpt {
    /// Returns the text that the model sees: kept ranges of `original` with the marks between them.
    pub fn render(&self, original: &str) -> String {
        let mut text = String::with_capacity(original.len() / 2);
        let mut marks = self.marks.iter();
        let mut at = 0;
        for range in self.kept.ranges() {
            if range.start as usize > at
                && let Some(mark) = marks.next()
            {
                text.push_str(mark);
            }
            // A stored excerpt may be damaged: ranges that do not fit the text are left out.
            text.push_str(original.get(range.start as usize..range.end as usize).unwrap_or_default());
            at = range.end as usize;
        }
        if at < original.len()
            && let Some(mark) = marks.next()
        {
            text.push_str(mark);
        }
        if let Some(mark) = &self.attachments {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(mark);
        }
        text
    }

    /// Returns the kept ranges, each with where it starts in the rendered text.
    fn pieces(&self) -> Vec<(u32, Range<u32>)> {
        let mut pieces = Vec::with_capacity(self.kept.ranges().len());
        let mut marks = self.marks.iter();
        let (mut at, mut out) = (0u32, 0u32);
        for range in self.kept.ranges() {
            if range.start > at
                && let Some(mark) = marks.next()
            {
                out += mark.len() as u32;
            }
            pieces.push((out, range.clone()));
            out += range.end - range.start;
            at = range.end;
        }
        pieces
    }

    /// Translates ascending ranges of the original text to the rendered one; the parts that left are left out. Linear in both
    /// lists.
    pub fn to_rendered(&self, original: &[TextRange]) -> Vec<TextRange> {
        let pieces = self.pieces();
        let mut rendered = Vec::with_capacity(original.len());
        let mut first = 0;
        for wanted in original {
            while first < pieces.len() && pieces[first].1.end <= wanted.start {
                first += 1;
            }
            for (out, range) in pieces[first..].iter().take_while(|(_, range)| range.start < wanted.end) {
                let (start, end) = (wanted.start.max(range.start), wanted.end.min(range.end));
                rendered.push(TextRange { start: out + start - range.start, end: out + end - range.start });
            }
        }
        rendered
    }

    /// Translates ranges of the rendered text back to ranges of the original; the parts inside a mark are left out.
    ///
    /// Linear in both lists.
    pub fn to_original(&self, original_length: usize, rendered: &[Range<u32>]) -> Vec<Range<u32>> {
        let pieces = self.pieces();
        let end = pieces.last().map_or(0, |(_, range)| range.end);
        debug_assert!(end as usize <= original_length, "kept ranges lie in the original text");
        let mut originals = Vec::with_capacity(rendered.len());
        let mut first = 0;
        for wanted in rendered {
            while first < pieces.len()
                && pieces[first].0 + (pieces[first].1.end - pieces[first].1.start) <= wanted.start
            {
                first += 1;
            }
            for (start, range) in &pieces[first..] {
                if *start >= wanted.end {
                    break;
                }
                let from = wanted.start.max(*start) - start + range.start;
                let to = (wanted.end - start).min(range.end - range.start) + range.start;
                if from < to {
                    originals.push(from..to);
                }
            }
        }
        originals
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn excerpt(text: &str, ranges: &[Range<u32>]) -> Excerpt {
        let kept = KeptRanges::new(text, ranges).unwrap();
        let marks = kept.gaps(text.len()).iter().map(|_| Arc::from("[…]")).collect();
        Excerpt { kept, marks, attachments: None }
    }

    #[test]
    fn renders_kept_ranges_with_marks() {
        let check =
            |ranges: &[Range<u32>], expect: &str| assert_eq!(excerpt("abcdefgh", ranges).render("abcdefgh"), expect);
        check(&[], "[…]");
        check(&[0..8], "abcdefgh");
        check(&[0..2], "ab[…]");
        check(&[6..8], "[…]gh");
        check(&[0..2, 2..4, 7..8], "abcd[…]h");
    }

    #[test]
    fn refuses_what_is_no_range_of_the_text() {
        let check = |ranges: &[Range<u32>], expect: ExcerptError| {
            assert_eq!(KeptRanges::new("aé", ranges).unwrap_err(), expect)
        };
        check(&[0..9], ExcerptError::OutOfBounds { start: 0, end: 9, length: 3 });
        check(&[1..3, 0..1], ExcerptError::NotSorted { start: 0, end: 1 });
        check(&[0..2], ExcerptError::InsideCharacter(2));
    }

    #[test]
    fn ranges_of_the_rendered_text_map_back() {
        // original abcdefgh, rendered "ab[…]gh": a mark of 5 bytes at 2..7
        let shown = excerpt("abcdefgh", &[0..2, 6..8]);
        let check = |ranges: &[Range<u32>], expect: &[Range<u32>]| assert_eq!(shown.to_original(8, ranges), expect);
        check(&[0..1], &[0..1]);
        check(&[0..9], &[0..2, 6..8]);
        check(&[3..8], &[6..7]);
        check(&[2..7], &[]);
        check(&[1..2, 8..9], &[1..2, 7..8]);
    }

    #[test]
    fn ranges_of_the_original_map_to_the_rendered_text() {
        let shown = excerpt("abcdefgh", &[0..2, 6..8]);
        let check = |ranges: &[Range<u32>], expect: &[Range<u32>]| {
            let of = |ranges: &[Range<u32>]| -> Vec<TextRange> {
                ranges.iter().map(|range| TextRange { start: range.start, end: range.end }).collect()
            };
            assert_eq!(shown.to_rendered(&of(ranges)), of(expect), "{ranges:?}");
        };
        check(&[0..1], &[0..1]);
        check(&[0..8], &[0..2, 7..9]);
        check(&[3..5], &[]);
        check(&[1..7], &[1..2, 7..8]);
        check(&[0..1, 1..2, 7..8], &[0..1, 1..2, 8..9]);
    }

    #[test]
    fn short_gaps_are_kept() {
        let kept = KeptRanges::new("abcdefgh", &[0..2, 3..4, 8..8]).unwrap();
        assert_eq!(kept.fill_gaps(8, 2).ranges(), &[0..4]);
        assert_eq!(kept.fill_gaps(8, 5).ranges(), &[0..8]);
    }
}
