//! Chooses the most informative lines of a long text: errors, lines about the question, and the text's beginning and
//! end.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::AhoCorasick;

use super::{fit, from_both_ends, pieces};
use crate::lists::LISTS;
use crate::services::Tokens;
use crate::text::{self, counted};
use crate::view::View;

/// Share of a budget that error lines and lines in focus may take; the rest is for the text's two ends.
const PICKED_SHARE: f64 = 0.6;

/// A repeated line of at most this many bytes stays: its mark would cost as much.
const SHORT_LINE: usize = 16;

/// The part of a text that stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InformativeLines {
    /// The byte ranges to keep; empty where nothing fits.
    pub keep: Vec<Range<u32>>,
    /// Whether this is the whole text.
    pub is_whole: bool,
    /// How many lines of the text mention errors; 0 where most of it does.
    pub errors: usize,
    /// How many lines of the text contain words of the focus.
    pub matches: usize,
}

impl InformativeLines {
    /// Returns the choice in words for a person: the end of a reason's detail.
    pub fn note(&self) -> String {
        match (self.errors, self.matches) {
            (0, 0) => ", its two ends kept".to_owned(),
            (errors, 0) => format!(", {} and its two ends kept", counted(errors, "error line")),
            (0, matches) => format!(", {} in focus and its two ends kept", counted(matches, "line")),
            (errors, matches) => {
                let (errors, matches) = (counted(errors, "error line"), counted(matches, "line"));
                format!(", {errors}, {matches} in focus and its two ends kept")
            }
        }
    }
}

/// Returns the lines of a tool's output that fit into `budget` tokens, marks included: the first and the last line,
/// lines that mention errors and lines in `focus` with the lines below an error, then both ends inwards. Linear in the
/// text.
pub fn informative_lines(view: &View<'_>, text: &str, focus: &Focus, budget: Tokens) -> InformativeLines {
    let pieces = pieces(text);
    if budget == 0 || pieces.is_empty() {
        return InformativeLines::default();
    }
    let line = |index: usize| &text[pieces[index].clone()];
    let held: Vec<u32> = (0..pieces.len()).map(|index| focus.terms_held(line(index))).collect();
    let telling = focus.without_common(held.iter().copied()).counted;
    let hits = held.iter().map(|held| (held & telling).count_ones() as usize);
    let scores: Vec<(usize, bool)> = hits.enumerate().map(|(index, hits)| (hits, is_error_line(line(index)))).collect();
    let matches = scores.iter().filter(|(hits, _)| *hits > 0).count();
    let errors = scores.iter().filter(|(_, is_error)| *is_error).count();
    // Where most lines mention errors (a listing of `error.rs`, say) that is not informative about one of them.
    let errors = if errors * 2 > pieces.len() { 0 } else { errors };
    let worth = |index: usize| 2 * scores[index].0.min(4) + 3 * usize::from(errors > 0 && scores[index].1);
    let mut picked: Vec<usize> = (0..pieces.len()).filter(|index| worth(*index) > 0).collect();
    picked.sort_by_key(|index| std::cmp::Reverse(worth(*index))); // stable: earlier lines first
    let sample = &text[..text.floor_char_boundary(2000)];
    let bytes_per_token = sample.len() as f64 / f64::from(view.count(sample).max(1));
    let room = (f64::from(budget) * PICKED_SHARE * bytes_per_token) as usize;
    let mut used = 0;
    picked.retain(|index| {
        used += pieces[*index].len();
        used <= room
    });
    // The lines below an error say where it is.
    let below = picked.iter().filter(|index| scores[**index].1).map(|index| (index + 1).min(pieces.len() - 1));
    let ends = || from_both_ends(pieces.len());
    // The first line names the subject and the last the outcome: they precede everything else.
    let ranked = ends().take(2).chain(picked.iter().copied()).chain(below).chain(ends());
    // A run of one line is told once: the mark behind it has the number of the others.
    let is_told = |index: usize| {
        let (line, before) = (line(index), line(index.saturating_sub(1)));
        index > 0 && line.len() > SHORT_LINE && before.ends_with('\n') && line.trim() == before.trim()
    };
    let ranked = ranked.filter(|index| !is_told(*index));
    let keep = fit(view, text, &pieces, ranked, budget);
    let is_whole = keep.first().is_some_and(|range| range.start == 0 && range.end as usize == text.len());
    InformativeLines { keep, is_whole, errors, matches }
}

/// Words that make a line of tool output worth keeping, in lower case.
static ERROR_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("error words"));

/// Phrases that report the absence of errors.
static NO_ERROR: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("no error"));

static ERRORS: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(&ERROR_WORDS));

/// Whether a line of tool output reports an error, in English or Chinese. Linear in the line.
pub fn is_error_line(line: &str) -> bool {
    if !ERRORS.is_match(line) {
        return false;
    }
    let line = line.to_ascii_lowercase();
    if !NO_ERROR.iter().any(|phrase| line.contains(phrase)) {
        return true;
    }
    let rest = NO_ERROR.iter().fold(line, |line, phrase| line.replace(phrase, ""));
    ERRORS.is_match(&rest)
}

/// Returns an automaton that finds any of a program's own words, in upper or lower case.
fn any_of(words: &[&str]) -> AhoCorasick {
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
    automaton.unwrap_or_else(|error| unreachable!("a handful of words: {error}"))
}

/// Words of English that say nothing of a subject, in alphabetical order.
static STOP_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("stop words"));

/// Returns the words, in lower case and in their order, that say nothing of the subject of an English text.
pub fn stop_words() -> &'static [&'static str] {
    &STOP_WORDS
}

/// Whether a word (in lower case) says nothing of the subject of an English text.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The terms of the current question, with which lines are matched.
#[derive(Debug, Clone, Default)]
pub struct Focus {
    /// At most [`MOST_TERMS`], none twice.
    terms: Arc<[String]>,
    /// Finds all terms in one pass; `None` where there are no terms.
    automaton: Option<AhoCorasick>,
    /// The terms that count, as bits by position: the others do not distinguish lines.
    counted: u32,
}

/// The most terms of a focus: the bits of a set.
const MOST_TERMS: usize = u32::BITS as usize;

impl Focus {
    /// Returns the terms of a question: informative words of three letters or more, pairs of Chinese characters; at
    /// most 32. None without a question.
    pub fn new(question: Option<&str>) -> Self {
        let mut terms: Vec<String> = Vec::new();
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | ':');
        for word in question.unwrap_or_default().split(|char: char| !is_part(char)) {
            let word = word.trim_matches(|char: char| !char.is_alphanumeric());
            let cjk: Vec<char> = word.chars().filter(|char| text::is_cjk(*char)).collect();
            let found: Vec<String> = if cjk.len() > 1 {
                cjk.windows(2).map(|pair| pair.iter().collect()).collect()
            } else {
                vec![word.to_ascii_lowercase()]
            };
            for term in found {
                let says_something = term.chars().any(text::is_cjk) || term.chars().count() >= 3;
                if says_something && !is_stop_word(&term) && !terms.contains(&term) {
                    terms.push(term);
                }
                if terms.len() == MOST_TERMS {
                    return Self::from_terms(terms);
                }
            }
        }
        Self::from_terms(terms)
    }

    fn from_terms(terms: Vec<String>) -> Self {
        if terms.is_empty() {
            return Self::default();
        }
        // Without an automaton (a question of gigabytes) there is no focus.
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&terms).ok();
        let counted = if automaton.is_some() { u32::MAX >> (MOST_TERMS - terms.len()) } else { 0 };
        Self { terms: terms.into(), automaton, counted }
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.counted == 0
    }

    /// Returns how many of the terms a line contains, each at the start of a word. Linear in the line.
    pub fn hits(&self, line: &str) -> usize {
        self.terms_held(line).count_ones() as usize
    }

    /// Returns the terms without those that more than a quarter of `lines` contain, because they do not distinguish
    /// lines.
    #[must_use]
    pub fn distinctive<'t>(&self, lines: impl Iterator<Item = &'t str>) -> Self {
        if self.is_empty() {
            return Self::default();
        }
        self.without_common(lines.map(|line| self.terms_held(line)))
    }

    /// Returns the same from the results of [`terms_held`](Self::terms_held) for each line.
    fn without_common(&self, held: impl Iterator<Item = u32>) -> Self {
        let mut counts = [0usize; MOST_TERMS];
        let mut total = 0;
        for held in held {
            total += 1;
            let mut left = held;
            while left != 0 {
                counts[left.trailing_zeros() as usize] += 1;
                left &= left - 1;
            }
        }
        let tells = |term: &usize| total < 8 || counts[*term] * 4 <= total;
        let telling = (0..self.terms.len()).filter(tells).fold(0, |bits, term| bits | 1 << term);
        Self { counted: self.counted & telling, ..self.clone() }
    }

    /// Returns which of the terms a line contains at the start of a word, as bits by position; Chinese has no such
    /// starts. Linear in the line.
    fn terms_held(&self, line: &str) -> u32 {
        let Some(automaton) = &self.automaton else { return 0 };
        let mut held = 0;
        for found in automaton.find_overlapping_iter(line) {
            let term = found.pattern().as_usize();
            let bit = 1 << term & self.counted;
            if bit & !held != 0 && (starts_word(line, found.start()) || self.is_cjk(term)) {
                held |= bit;
                if held == self.counted {
                    break;
                }
            }
        }
        held
    }

    fn is_cjk(&self, term: usize) -> bool {
        self.terms[term].chars().next().is_some_and(text::is_cjk)
    }
}

/// Whether a word may start at a place of a line: no letter or digit precedes it, Chinese ones aside.
fn starts_word(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    before.is_none_or(|char| !char.is_alphanumeric() || text::is_cjk(char))
}
