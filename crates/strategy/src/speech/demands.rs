//! The sentences of a text that demand something, or tell a fact that has to be kept.
//!
//! The cues are the lexicon's. Here stands only what a sentence around a cue must look like, for the cues that tell as
//! often as they demand ("it never returns"), and which sentences belong together.

use std::ops::Range;

use super::clauses::{demands_here, is_question, is_request};
use super::facts::tells_a_fact;
use super::sentences::sentences;
use crate::lexicon::{Cue, CueMatch, Lexicon};

/// What is longer is pasted data and no demand, in bytes.
const LONGEST: usize = 1_000;

/// What refers to something said before.
const REFERRING: &[&str] = &["it", "this", "that", "them", "those", "these", "its", "their", "there", "one", "both"];
const REFERRING_CHINESE: &[&str] = &["该", "这", "那", "它", "其", "此"];

/// What goes on with the sentence before it.
const GOING_ON: &[&str] =
    &["but", "except", "otherwise", "same", "instead", "however", "only then", "unless", "until then"];
const GOING_ON_CHINESE: &[&str] = &["但", "不过", "除了", "否则", "同样", "然后", "并且", "而且"];

/// Words of a command so short that it says nothing without the sentence before it: "Never.", "Always ask first."
const SHORT: usize = 4;
/// Words in which a pronoun may stand anywhere and still refer back; in a longer sentence it stands near the start.
const BRIEF: usize = 12;
/// Words from the start that count as near it.
const NEAR: usize = 5;

/// A sentence of the text.
struct Sentence<'t> {
    range: Range<usize>,
    words: &'t str,
    is_taken: bool,
}

/// The byte ranges of the sentences of a typed text that demand something or tell a fact to be kept, each with the
/// sentence before it where it refers to that; ascending, without overlaps.
///
/// What demands is what holds a cue of instruction, preference, remembering or importance of the lexicon; cues that tell as often
/// ("only", "never") count where their clause does not tell. Questions demand nothing, but for requests in their form.
/// Linear.
pub fn demands(lexicon: &Lexicon, text: &str) -> Vec<Range<usize>> {
    let mut cues: Vec<CueMatch> = lexicon
        .find(text)
        .filter(|found| matches!(found.cue, Cue::Instruction | Cue::Preference | Cue::Remember | Cue::Important))
        .collect();
    cues.sort_by_key(|found| found.range.start);
    let mut cues = cues.into_iter().peekable();
    let mut all: Vec<Sentence<'_>> = Vec::new();
    for range in sentences(text) {
        let mut own = Vec::new();
        while let Some(cue) = cues.next_if(|cue| cue.range.start < range.end) {
            if cue.range.start >= range.start && cue.range.end <= range.end {
                own.push(cue);
            }
        }
        let words = &text[range.clone()];
        let is_taken = words.len() <= LONGEST && is_demand(words, range.start, &own);
        all.push(Sentence { range, words, is_taken });
    }
    joined(text, &all)
}

/// The taken sentences with those that they refer to, and those that refer to them.
fn joined(text: &str, all: &[Sentence<'_>]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut was_taken = false;
    for (index, sentence) in all.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| &all[index]).filter(|before| before.words.len() <= LONGEST);
        let refers = before.is_some_and(|before| {
            let between = &text[before.range.end..sentence.range.start];
            refers_back(sentence.words) || !between.contains('\n') && is_short_command(sentence.words)
        });
        // "The launch is on 12 October. Plan around it."
        let goes_on = was_taken && refers && is_brief(sentence.words) && !is_question(sentence.words);
        was_taken = sentence.is_taken || goes_on;
        if !was_taken {
            continue;
        }
        let start = before.filter(|_| refers).map_or(sentence.range.start, |before| before.range.start);
        match found.last_mut().filter(|last| last.end > start) {
            Some(last) => last.end = sentence.range.end,
            None => found.push(start..sentence.range.end),
        }
    }
    found
}

fn is_demand(words: &str, start: usize, cues: &[CueMatch]) -> bool {
    let asks = is_question(words);
    if asks && !is_request(words) {
        return false;
    }
    let lower = words.to_lowercase();
    let lower = if lower.len() == words.len() { lower } else { words.to_ascii_lowercase() };
    let counts = |cue: &CueMatch| {
        let (from, to) = (cue.range.start - start, cue.range.end - start);
        lower.is_char_boundary(from) && lower.is_char_boundary(to) && demands_here(&lower, from..to, asks)
    };
    cues.iter().any(counts) || (!asks && tells_a_fact(&lower))
}

fn is_brief(words: &str) -> bool {
    words.split_whitespace().nth(BRIEF).is_none() && words.len() <= 120
}

/// Whether a sentence says nothing without the one before it: "Never exceed."
fn is_short_command(words: &str) -> bool {
    let lower = words.to_lowercase();
    let commands = ["never", "always", "don't", "do not", "only", "not"].iter().any(|start| lower.starts_with(start));
    commands && words.split_whitespace().nth(SHORT).is_none()
}

/// Whether a sentence refers to the one before it.
fn refers_back(words: &str) -> bool {
    if !words.is_ascii() && words.contains(crate::text::is_cjk) {
        let near = &words[..words.floor_char_boundary(24)];
        return REFERRING_CHINESE.iter().any(|word| near.contains(word))
            || GOING_ON_CHINESE.iter().any(|word| words.starts_with(word));
    }
    let lower = words.to_lowercase();
    if GOING_ON.iter().any(|word| lower.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    {
        return true;
    }
    let mut count = 0;
    let mut refers = None;
    for word in lower.split(|char: char| !(char.is_alphanumeric() || char == '\'')).filter(|word| !word.is_empty()) {
        if refers.is_none() && REFERRING.contains(&word) {
            refers = Some(count);
        }
        count += 1;
    }
    refers.is_some_and(|at| at < NEAR || count <= BRIEF)
}
