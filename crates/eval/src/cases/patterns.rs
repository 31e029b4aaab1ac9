//! Searches for many strings in one pass.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::EvalError;
use crate::cases::atoms::is_word_char;

/// Strings that are searched for in texts, all in one pass.
#[derive(Debug)]
pub struct Patterns {
    automaton: AhoCorasick,
    count: usize,
    /// Whether a match must not touch a letter, a digit or `_`.
    on_boundaries: bool,
}

impl Patterns {
    /// Prepares a search for `strings`; with `on_boundaries` a match must not touch a letter, a digit or `_`. Linear in the
    /// strings.
    pub fn new<T: AsRef<[u8]>>(strings: &[T], on_boundaries: bool) -> Result<Self, EvalError> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(strings)
            .map_err(|error| EvalError::Patterns(error.to_string()))?;
        Ok(Self { automaton, count: strings.len(), on_boundaries })
    }

    /// Returns every match, overlapping ones too, as the string's number and the byte range. Linear in the text and the
    /// matches.
    pub fn each(&self, text: &str, mut visit: impl FnMut(usize, usize, usize)) {
        if self.count == 0 {
            return;
        }
        for found in self.automaton.find_overlapping_iter(text) {
            let (start, end) = (found.start(), found.end());
            if !self.on_boundaries || is_on_boundaries(text, start, end) {
                visit(found.pattern().as_usize(), start, end);
            }
        }
    }

    /// Returns which of the strings occur in `text`.
    pub fn present(&self, text: &str) -> Vec<bool> {
        let mut present = vec![false; self.count];
        self.each(text, |number, _, _| present[number] = true);
        present
    }
}

/// Whether no letter, digit or `_` touches the range: any other character, CJK ones included, is a boundary.
fn is_on_boundaries(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    !before.is_some_and(is_word_char) && !after.is_some_and(is_word_char)
}
