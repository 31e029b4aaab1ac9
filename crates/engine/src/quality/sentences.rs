//! The sentences of a text that tell somebody what to do.

use std::borrow::Cow;
use std::ops::Range;

use epitome_strategy::text::{ends_sentence, lines};
use epitome_strategy::{Cue, Cues, Lexicon};

/// What is longer is pasted data and no instruction, in bytes.
const LONGEST: usize = 1_000;

/// What a line may start with that is no part of its sentence.
const BULLETS: [char; 6] = ['-', '*', '#', '>', '•', ' '];

/// The sentences with a word of instruction, without bullets in front, white space as single spaces. Linear.
pub(super) fn instructions<'t>(text: &'t str, lexicon: &Lexicon) -> Vec<Cow<'t, str>> {
    let search = lexicon.search(Cues::of([Cue::Instruction]));
    let mut cues: Vec<Range<usize>> = search.find(text).into_iter().map(|found| found.range).collect();
    cues.sort_by_key(|range| range.start);
    let mut found = Vec::new();
    let mut cues = cues.into_iter().peekable();
    for line in lines(text) {
        if cues.peek().is_none() {
            break;
        }
        for sentence in sentences(text, line) {
            // A phrase that goes over the end of a line belongs to the sentence that it starts in.
            let mut has_cue = false;
            while cues.next_if(|cue| cue.start < sentence.end).is_some() {
                has_cue = true;
            }
            let words = text[sentence].trim_start_matches(BULLETS).trim();
            if has_cue && words.len() <= LONGEST && words.chars().any(char::is_alphanumeric) {
                found.push(single_spaces(words));
            }
        }
    }
    found
}

/// The sentences of a line. A sentence ends behind its mark; an English one only where white space follows.
fn sentences(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = line.start;
    std::iter::from_fn(move || {
        if start >= line.end {
            return None;
        }
        let mut chars = text[start..line.end].char_indices().peekable();
        let mut end = line.end;
        while let Some((at, char)) = chars.next() {
            let is_free = !char.is_ascii() || chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            if ends_sentence(char) && is_free {
                end = start + at + char.len_utf8();
                break;
            }
        }
        let sentence = start..end;
        start = end;
        Some(sentence)
    })
}

fn single_spaces(words: &str) -> Cow<'_, str> {
    let plain = !words.contains("  ") && !words.contains(|char: char| char.is_whitespace() && char != ' ');
    if plain { Cow::Borrowed(words) } else { Cow::Owned(words.split_whitespace().collect::<Vec<_>>().join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_with_a_word_of_instruction() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(instructions(text, &Lexicon::standard()), expect, "{text}");
        };
        check("Fix it. Never push to main! Thanks.", &["Never push to main!"]);
        check("- You  must use v1.2 of\tmain.rs\n- and this", &["You must use v1.2 of main.rs"]);
        check("先看一下。不要修改 main.rs，谢谢。好", &["不要修改 main.rs，谢谢。"]);
        check("Nothing to see. Here", &[]);
        check(&format!("must {}", "data ".repeat(400)), &[]);
        check("", &[]);
    }
}
