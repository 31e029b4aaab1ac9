//! Searches for some of the cues: one table of their words, one regular expression for each cue that has patterns.

use std::fmt;
use std::ops::Range;

use regex::Regex;

use super::Lexicon;
use super::cue::{Cue, CueCounts, CueMatch, Cues, LexiconError};
use super::phrases::Phrases;
use crate::text::ends_sentence;

/// Words with their cues.
type Words = Vec<(String, Cues)>;

/// The search for some of a lexicon's cues: their words, those phrases of other cues that contain one of these, and
/// their patterns. With fewer cues it is built and reads faster.
pub struct CueSearch {
    phrases: Phrases,
    patterns: Vec<(Cue, Regex)>,
}

impl fmt::Debug for CueSearch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CueSearch").field("words", &self.phrases.len()).finish_non_exhaustive()
    }
}

impl CueSearch {
    pub(super) fn new(lexicon: &Lexicon, wanted: Cues) -> Result<Self, LexiconError> {
        let of = |(word, cues): &'_ (String, Cues)| (word.clone(), cues.and(wanted));
        let (mut words, others): (Words, Words) = lexicon.words.iter().map(of).partition(|(_, cues)| !cues.is_empty());
        if !others.is_empty() {
            let inside = Phrases::new(words.iter().map(|(word, cues)| (word.as_str(), *cues)));
            words.extend(others.into_iter().filter(|(word, _)| inside.is_in(word)));
        }
        let patterns = lexicon.patterns.iter().filter(|pattern| wanted.has(pattern.cue));
        Ok(Self {
            phrases: Phrases::new(words.iter().map(|(word, cues)| (word.as_str(), *cues))),
            patterns: patterns.map(|pattern| Ok((pattern.cue, pattern.regex()?))).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the words of the cues in a text, with their cues, in the order of the text.
    fn words<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (Cues, Range<usize>)> + 't {
        let in_place = |(cues, range): (Cues, Range<usize>)| {
            let opens = || opens_sentence(text, range.start);
            (cues.in_place(opens), range)
        };
        self.phrases.find(text).map(in_place).filter(|(cues, _)| !cues.is_empty())
    }

    /// Whether one of the cues is in a text. Linear in the text, up to the first of them.
    pub fn has(&self, text: &str) -> bool {
        self.words(text).next().is_some() || self.patterns.iter().any(|(_, regex)| regex.is_match(text))
    }

    /// Returns the cues in a text: those of words in the order of the text, then those of patterns. Linear in the text.
    pub fn find(&self, text: &str) -> Vec<CueMatch> {
        let mut matches = Vec::new();
        self.for_each_match(text, |cue, range| matches.push(CueMatch { cue, range }));
        matches
    }

    /// Returns how often each of the cues occurs in a text. Linear in the text.
    pub fn counts(&self, text: &str) -> CueCounts {
        let mut counts = CueCounts::default();
        self.for_each_match(text, |cue, _| counts.0[cue as usize] = counts.count(cue).saturating_add(1));
        counts
    }

    fn for_each_match(&self, text: &str, mut found: impl FnMut(Cue, Range<usize>)) {
        for (cues, range) in self.words(text) {
            for cue in Cue::ALL.into_iter().filter(|cue| cues.has(*cue)) {
                found(cue, range.clone());
            }
        }
        for (cue, regex) in &self.patterns {
            regex.find_iter(text).for_each(|it| found(*cue, it.range()));
        }
    }
}

/// Whether a sentence starts at `at`: at the start of the text, of a line (behind bullets and numbers), or behind the
/// end of another sentence. Constant time but for white space and bullets.
fn opens_sentence(text: &str, at: usize) -> bool {
    let is_mark = |char: char| matches!(char, ' ' | '\t' | '-' | '*' | '#' | '>' | '•' | '"' | '“' | '「' | '(' | '（');
    let before = text[..at].trim_end_matches(is_mark);
    let Some(last) = before.chars().next_back() else { return true };
    if last == '\n' || !last.is_ascii() && ends_sentence(last) {
        return true;
    }
    // A mark with a space behind it ends a sentence, and so does a list's number.
    matches!(last, '.' | '!' | '?' | ')') && before.len() < at
}
