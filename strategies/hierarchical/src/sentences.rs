//! Chooses the sentences of a text that stay.

use std::ops::Range;

use epitome_strategy::cut::{fit, from_both_ends, pieces};
use epitome_strategy::text::ends_sentence;
use epitome_strategy::{Tokens, View};

/// Returns the sentences that fit into `budget` tokens, from both ends inwards; a conclusion starts with its end.
/// Linear.
pub(crate) fn from_ends(view: &View<'_>, text: &str, from_end: bool, budget: Tokens) -> Vec<Range<u32>> {
    let pieces: Vec<Range<usize>> = pieces(text).into_iter().flat_map(|line| split_sentences(text, line)).collect();
    let count = pieces.len();
    let ranked = from_both_ends(count).map(|index| if from_end { count - 1 - index } else { index });
    fit(view, text, &pieces, ranked, budget)
}

/// Splits a line behind the end of each sentence in it: an English one ends with its mark and white space behind it.
fn split_sentences(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut ended) = (line.start, false);
    for (at, char) in text[line.clone()].char_indices() {
        let at = line.start + at;
        if ended && !char.is_whitespace() {
            found.push(start..at);
            start = at;
        }
        let next = text[at + char.len_utf8()..line.end].chars().next();
        let closes = ends_sentence(char) && (!char.is_ascii() || next.is_none_or(char::is_whitespace));
        ended = closes || ended && char.is_whitespace();
    }
    found.push(start..line.end);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_split() {
        let check = |text: &str, expect: &[&str]| {
            let split: Vec<&str> = split_sentences(text, 0..text.len()).into_iter().map(|range| &text[range]).collect();
            assert_eq!(split, expect);
        };
        check("One. Two!  Three", &["One. ", "Two!  ", "Three"]);
        check("see main.rs v1.2 now", &["see main.rs v1.2 now"]);
        check("第一句。第二句！", &["第一句。", "第二句！"]);
        check("", &[""]);
    }
}
