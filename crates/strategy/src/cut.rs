//! Choosing the parts of a long text that stay: pieces, their worth, and how many fit.

mod arguments;
mod informative;
mod sections;
mod sentences;

use std::ops::Range;

use crate::services::Tokens;
use crate::text;
use crate::view::View;

pub use arguments::argument_saving;
pub use informative::{Focus, InformativeLines, informative_lines, is_error_line, is_stop_word, stop_words};
pub use sections::beginnings;
pub use sentences::whole_sentences;

/// A line longer than this many bytes is several pieces, so that a text of one giant line can be cut too.
const LONGEST_LINE: usize = 400;
/// The most bytes of a piece of such a line: small enough for small budgets.
const LONGEST_PIECE: usize = 120;
/// Gaps of at most this many bytes stay: the mark would cost as much.
const SHORTEST_GAP: usize = 48;
/// How many pieces in a row may exceed the rest of a budget before the choice ends.
const MOST_MISSES: u32 = 32;

/// Returns the byte ranges of a text's lines, each with its line feed; a very long line is split behind white space, a
/// comma, a semicolon or a bracket. They cover the text. Linear.
pub fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for line in text::lines(text) {
        let mut at = line.start;
        while line.len() > LONGEST_LINE && line.end - at > LONGEST_PIECE {
            let reach = &text.as_bytes()[at + LONGEST_PIECE / 2..at + LONGEST_PIECE];
            let is_break = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b';' | b'}' | b']' | b')' | b'>');
            let end = match reach.iter().rposition(is_break) {
                Some(offset) => at + LONGEST_PIECE / 2 + offset + 1,
                None => text.floor_char_boundary(at + LONGEST_PIECE),
            };
            pieces.push(at..end);
            at = end;
        }
        pieces.push(at..line.end);
    }
    pieces
}

/// Returns the numbers below `count` from both ends inwards: 0, the last, 1, the last but one, …
pub fn from_both_ends(count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |step| if step % 2 == 0 { step / 2 } else { count - 1 - step / 2 })
}

/// Returns the ranges of `text` to keep: pieces in the order of `ranked`, as many as `budget` tokens allow with the
/// marks for the gaps. Pieces must be sorted and cover the text.
///
/// Only the pieces that are tried are counted, so the cost depends on the budget and not on the text.
pub fn fit(
    view: &View<'_>,
    text: &str,
    pieces: &[Range<usize>],
    ranked: impl IntoIterator<Item = usize>,
    budget: Tokens,
) -> Vec<Range<u32>> {
    let (first_mark, mark) = (view.mark_tokens(), view.further_mark_tokens());
    let mut kept = vec![false; pieces.len()];
    let mut chosen = Vec::new();
    let marks_tokens = |gaps: usize| if gaps == 0 { 0 } else { first_mark + (gaps as Tokens - 1) * mark };
    let mut used = first_mark;
    let mut left_out = 1; // gaps
    let mut misses = 0;
    for index in ranked {
        if kept[index] {
            continue;
        }
        let left = usize::from(index > 0 && !kept[index - 1]);
        let right = usize::from(index + 1 < pieces.len() && !kept[index + 1]);
        let gaps = left_out - 1 + left + right;
        let marks = used - marks_tokens(left_out) + marks_tokens(gaps);
        // Tokens of more than 64 bytes practically do not occur, so a giant line that cannot fit is not counted at all.
        let least = (pieces[index].len() / 64) as Tokens;
        if marks + least > budget || marks + view.count(&text[pieces[index].clone()]) > budget {
            misses += 1;
            if misses == MOST_MISSES {
                break;
            }
            continue;
        }
        misses = 0;
        used = marks + view.count(&text[pieces[index].clone()]);
        left_out = gaps;
        kept[index] = true;
        chosen.push(index);
    }
    // Counts of pieces add up to no less than the count of the whole for every vocabulary seen; this guarantees it.
    loop {
        let ranges = joined(pieces, &kept, text.len());
        let gaps = gaps(&ranges, text.len());
        let count: Tokens =
            ranges.iter().map(|range| view.count(&text[range.start as usize..range.end as usize])).sum();
        if count + marks_tokens(gaps) <= budget {
            return ranges;
        }
        match chosen.pop() {
            Some(last) => kept[last] = false,
            None => return Vec::new(),
        }
    }
}

/// Returns kept pieces as ranges, with short gaps between them closed.
fn joined(pieces: &[Range<usize>], kept: &[bool], length: usize) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for (piece, _) in pieces.iter().zip(kept).filter(|(_, kept)| **kept) {
        let (start, end) = (piece.start as u32, piece.end as u32);
        match ranges.last_mut() {
            Some(last) if start as usize <= last.end as usize + SHORTEST_GAP => last.end = end,
            None if start as usize <= SHORTEST_GAP => ranges.push(0..end),
            _ => ranges.push(start..end),
        }
    }
    if let Some(last) = ranges.last_mut()
        && length <= last.end as usize + SHORTEST_GAP
    {
        last.end = length as u32;
    }
    ranges
}

fn gaps(ranges: &[Range<u32>], length: usize) -> usize {
    let before = ranges.first().is_none_or(|range| range.start > 0);
    let after = ranges.last().is_some_and(|range| (range.end as usize) < length);
    ranges.len().saturating_sub(1) + usize::from(before) + usize::from(after)
}

/// Returns how much of each amount may stay so that together at least `need` leaves: an amount may keep the level times
/// its weight, and never less than `floor`. 0 when even the floor leaves too much.
///
/// Large amounts shrink first, and equal ones shrink equally; a weight of 2 keeps twice as much.
pub fn level(amounts: &[(Tokens, f64)], floor: Tokens, need: Tokens) -> f64 {
    let saved = |level: f64| -> u64 {
        amounts.iter().map(|(tokens, weight)| u64::from(tokens.saturating_sub(allowed(level, *weight, floor)))).sum()
    };
    if saved(0.0) <= u64::from(need) {
        return 0.0;
    }
    let highest = amounts.iter().map(|(tokens, weight)| f64::from(*tokens) / weight.max(0.01)).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, highest);
    // 32 bisections of a level below 2³² tokens are exact to a token.
    for _ in 0..32 {
        let middle = (low + high) / 2.0;
        if saved(middle) >= u64::from(need) { low = middle } else { high = middle }
    }
    low
}

/// Returns how much of an amount may stay at a level: see [`level`].
pub fn allowed(level: f64, weight: f64, floor: Tokens) -> Tokens {
    floor.max((level * weight) as Tokens)
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
