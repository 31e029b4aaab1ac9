//! The sentences of a text.

use std::ops::Range;

use crate::text::{ends_sentence, lines};

/// Prefixes of a line that are not part of its sentence.
const BULLETS: [char; 7] = ['-', '*', '#', '>', '•', ' ', '\t'];

/// Returns the byte ranges of the sentences of a text, ascending, without the bullets and the white space around them.
///
/// A sentence ends behind its mark (an English one only where white space follows), and where a line ends, unless the
/// next line continues the sentence, as in texts with hard line ends. Fenced blocks have no sentences. Linear.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_open = false; // whether the newest sentence may go on in the next line
    let mut in_fence = false;
    for line in lines(text) {
        let words = text[line.clone()].trim();
        if words.starts_with("```") {
            (in_fence, is_open) = (!in_fence, false);
            continue;
        }
        if in_fence || words.is_empty() {
            is_open = false;
            continue;
        }
        let goes_on = is_open && words.starts_with(|char: char| char.is_ascii_lowercase());
        for (number, sentence) in in_line(text, line).enumerate() {
            match found.last_mut().filter(|_| goes_on && number == 0) {
                Some(last) => last.end = sentence.end,
                None => found.push(sentence),
            }
        }
        is_open =
            !words.ends_with(|char: char| ends_sentence(char) || matches!(char, ':' | '：' | '|' | '`' | '}' | ';'));
    }
    found
}

/// Returns the sentences of a line, trimmed; a part without a letter or a digit is not a sentence.
fn in_line(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = line.start;
    let parts = std::iter::from_fn(move || {
        if start >= line.end {
            return None;
        }
        let mut chars = text[start..line.end].char_indices().peekable();
        let mut end = line.end;
        while let Some((at, char)) = chars.next() {
            let is_free = !char.is_ascii() || chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            let is_label = || is_label(text[start..start + at].trim_start_matches(BULLETS));
            // `[… 811 tokens elided]` is one mark.
            let is_elision = char == '…' && text[start..start + at].ends_with('[');
            if ends_sentence(char)
                && is_free
                && !is_elision
                && !(char == '.' && (is_label() || is_abbreviated(&text[start..start + at])))
            {
                end = start + at + char.len_utf8();
                break;
            }
        }
        let part = start..end;
        start = end;
        Some(part)
    });
    parts.filter_map(|part| {
        let words = without_bullets(&text[part.clone()]);
        let start = part.end - words.len();
        let words = words.trim_end();
        words.contains(char::is_alphanumeric).then(|| start..start + words.len())
    })
}

/// Returns a part of a line without what opens it: bullets and signs of headings and quotes. Emphasis is a part of it.
fn without_bullets(part: &str) -> &str {
    let words = part.trim_start_matches(BULLETS);
    let emphasis = part[..part.len() - words.len()].bytes().rev().take_while(|byte| *byte == b'*').count();
    &part[part.len() - words.len() - emphasis..]
}

/// Whether a text is the number or the letter of an item: `2`, `A`; or nothing.
fn is_label(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
        || (text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// Whether a text ends in a word that is written with a full stop.
fn is_abbreviated(text: &str) -> bool {
    let word = text.rsplit(|char: char| char.is_whitespace() || char == '(').next().unwrap_or_default();
    ["Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "e.g", "i.e", "vs", "cf", "approx"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_a_text() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("Fix it. Never push to v1.2! Thanks", &["Fix it.", "Never push to v1.2!", "Thanks"]);
        check("先看一下。不要修改，谢谢。好", &["先看一下。", "不要修改，谢谢。", "好"]);
        check("- one\n  * two\n\n> three", &["one", "two", "three"]);
        check("Before you push,\nrun the linter. Then\nstop.", &["Before you push,\nrun the linter.", "Then\nstop."]);
        check("a list:\nfirst\nSecond", &["a list:", "first", "Second"]);
        check("see\n```\nmust not\n```\nthis", &["see", "this"]);
        check("1. one\n2. two", &["1. one", "2. two"]);
        check("A. is fine. Log it.", &["A. is fine.", "Log it."]);
        check("- **Files:** two\n* *one*", &["**Files:** two", "*one*"]);
        check("Kept. [… 811 tokens elided] of it.", &["Kept.", "[… 811 tokens elided] of it."]);
        check("…\n--\n", &[]);
        check("", &[]);
    }
}
