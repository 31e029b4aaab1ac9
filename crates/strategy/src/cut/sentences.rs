//! Cutting prose: whole sentences from its start, and from its end.

use std::ops::Range;

use crate::services::Tokens;
use crate::text::{ends_sentence, sentence_end};
use crate::view::View;

/// Returns the ranges to keep of a text of `tokens` tokens so that it takes at most `budget` with its mark: whole
/// sentences from its start, and `tail_share` of the room for whole sentences at its end. Empty when nothing fits.
/// Linear in the text.
pub fn whole_sentences(
    view: &View<'_>,
    text: &str,
    tokens: Tokens,
    budget: Tokens,
    tail_share: f64,
) -> Vec<Range<u32>> {
    let room = budget.saturating_sub(view.mark_tokens());
    let mut bytes = text.len() as f64 * f64::from(room) / f64::from(tokens.max(1));
    // Tokens are not spread evenly: a result that does not fit is tried again a tenth shorter.
    for _ in 0..24 {
        let tail_bytes = (bytes * tail_share) as usize;
        let head = sentence_end(text, text.floor_char_boundary(bytes as usize - tail_bytes));
        let tail = if tail_bytes == 0 { text.len() } else { sentence_start(text, text.len() - tail_bytes).max(head) };
        if head == 0 {
            return Vec::new();
        }
        if view.count(&text[..head]) + view.count(&text[tail..]) <= room {
            let ranges = [0..head as u32, tail as u32..text.len() as u32];
            return ranges.into_iter().filter(|range| !range.is_empty()).collect();
        }
        bytes *= 0.9;
    }
    Vec::new()
}

/// Returns the first place at or after `from` at which a sentence or a line starts. Where the first half of the rest
/// has none, it returns the first start of a word there, else the text's end.
fn sentence_start(text: &str, from: usize) -> usize {
    let from = text.ceil_char_boundary(from);
    let rest = &text[from..];
    let (mut space, mut closed) = (None, false);
    let mut before = text[..from].chars().next_back().unwrap_or('\n');
    for (at, char) in rest.char_indices() {
        if at * 2 > rest.len() {
            break;
        }
        closed = closed || before == '\n' || (ends_sentence(before) && (before > '\u{7f}' || char.is_whitespace()));
        if closed && !char.is_whitespace() {
            return from + at;
        }
        if space.is_none() && before.is_whitespace() && !char.is_whitespace() {
            space = Some(from + at);
        }
        before = char;
    }
    space.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_start() {
        let check = |text: &str, from: usize, expect: &str| assert_eq!(&text[sentence_start(text, from)..], expect);
        check("One two. Three four five.", 4, "Three four five.");
        check("see v1.2 of main.rs. Then go on.", 10, "Then go on.");
        check("第一句。第二句。", 4, "第二句。");
        check("a line\nanother line here", 3, "another line here");
        check("no sentence ends in here at all anywhere", 14, "in here at all anywhere");
        check("unbroken", 3, "");
    }
}
