//! What stays of a text, and what shortening arguments saves.

use std::ops::Range;

use epitome_strategy::cut::{Focus, fit, from_both_ends, is_error_line, pieces};
use epitome_strategy::text::ends_sentence;
use epitome_strategy::{BlockRef, Tokens, Value, View};

/// Fewer characters than this beyond the longest string are not worth an edit.
const LEAST_CUT: usize = 100;

/// The lines of a result that `budget` tokens hold: its two ends, then errors and what the question is about, then both
/// ends inwards. Linear in the text.
pub(crate) fn lines(view: &View<'_>, text: &str, focus: &Focus, budget: Tokens) -> Vec<Range<u32>> {
    let pieces = pieces(text);
    let line = |index: usize| &text[pieces[index].clone()];
    let focus = focus.telling((0..pieces.len()).map(line));
    let errors = (0..pieces.len()).filter(|index| is_error_line(line(*index)));
    let matches = (0..pieces.len()).filter(|index| focus.hits(line(*index)) > 0);
    // Half of the lines are the most that may be picked: the ends say what the text is.
    let picked = errors.chain(matches).take(pieces.len() / 2);
    let ranked = from_both_ends(pieces.len()).take(4).chain(picked).chain(from_both_ends(pieces.len()));
    fit(view, text, &pieces, ranked, budget)
}

/// The sentences that `budget` tokens hold, from both ends inwards; a conclusion starts with its end. Linear.
pub(crate) fn sentences(view: &View<'_>, text: &str, from_end: bool, budget: Tokens) -> Vec<Range<u32>> {
    let pieces: Vec<Range<usize>> = pieces(text).into_iter().flat_map(|line| split_sentences(text, line)).collect();
    let count = pieces.len();
    let ranked = from_both_ends(count).map(|index| if from_end { count - 1 - index } else { index });
    fit(view, text, &pieces, ranked, budget)
}

/// A line cut behind the end of each sentence in it: an English one ends with its mark and white space behind it.
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

/// Tokens that cutting the strings of a call's arguments to `max_chars` saves, by their share of its characters; 0 where
/// there is nothing worth cutting. Linear in the arguments.
pub(crate) fn arguments_saving(view: &View<'_>, at: BlockRef, max_chars: u32) -> Tokens {
    let Some(call) = view.block(at).and_then(|block| block.as_call()) else { return 0 };
    let text = call.arguments.text();
    // Bytes are no fewer than characters: most arguments are done with here.
    if text.len() < max_chars as usize + LEAST_CUT {
        return 0;
    }
    let (mut over, mut strings) = (0, 0);
    let mut values = vec![text.parse::<Value>().unwrap_or_else(|_| Value::String(text.to_string()))];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => {
                let beyond = text.chars().count().saturating_sub(max_chars as usize);
                over += beyond;
                strings += Tokens::from(beyond > 0);
            }
            Value::Array(items) => values.extend(items),
            Value::Object(fields) => values.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    if over < LEAST_CUT {
        return 0;
    }
    let share = over as f64 / text.chars().count().max(1) as f64;
    ((f64::from(view.block_tokens(at)) * share) as Tokens).saturating_sub(strings * view.mark_tokens())
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
