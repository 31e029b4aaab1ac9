//! The sentences of a text that demand something, or state a fact that has to be kept.
//!
//! A table decides which sentences these are; words that a configuration adds to the lexicon always decide for. This
//! file decides which sentences belong together.

use std::ops::Range;
use std::sync::LazyLock;

use super::binding::binding;
use super::questions::is_question;
use super::sentences::sentences;
use crate::lexicon::{Cue, Cues, Lexicon};
use crate::lists::LISTS;

/// The probability from which on a sentence counts as binding: one taken in error costs a line, one missed breaks a
/// promise.
const BINDS: f32 = 0.4;

/// A longer sentence, in bytes, is pasted data and not a demand.
const LONGEST: usize = 1_000;

/// Bytes of the longest label in front of a sentence ("One rule for all of this: …"), about ten words.
const LONGEST_LABEL: usize = 60;

/// Words that refer to an earlier sentence.
static REFERRING: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("referring"));

/// Words that continue the sentence before.
static GOING_ON: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("going on"));

/// The most words of a command that says nothing without the sentence before it: "Never.", "Always ask first."
const SHORT: usize = 4;
/// The most words of a sentence in which a pronoun may be anywhere and still refer back; in a longer one it has to be
/// near the start.
const BRIEF: usize = 12;
/// How many words from the start count as near it.
const NEAR: usize = 5;

/// A demand of a person, or a fact to be kept in mind.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Its bytes.
    pub range: Range<usize>,
    /// The probability that it binds what comes later, from 0.4 to 1.
    pub binding: f32,
}

/// A sentence of the text.
struct Sentence<'t> {
    range: Range<usize>,
    words: &'t str,
    binding: f32,
}

/// Returns the sentences of a typed text that demand something or state a fact to be kept, each with the sentence
/// before it where it refers to that; ascending, without overlaps. Linear.
pub fn demands(lexicon: &Lexicon, text: &str) -> Vec<Demand> {
    let own = lexicon.added();
    let cues = Cues::new([Cue::Instruction, Cue::Preference, Cue::Remember, Cue::Important]);
    let binds = |words: &str| match own {
        _ if words.len() > LONGEST => 0.0,
        Some(own) if own.has(words, cues) => 1.0,
        _ => behind_label(words).map_or(0.0, binding).max(binding(words)),
    };
    let all: Vec<Sentence<'_>> = sentences(text)
        .into_iter()
        .map(|range| Sentence { words: &text[range.clone()], binding: binds(&text[range.clone()]), range })
        .collect();
    joined(text, &all)
}

/// Adds to the taken sentences those that they refer to, and those that refer to them.
fn joined(text: &str, all: &[Sentence<'_>]) -> Vec<Demand> {
    let mut found: Vec<Demand> = Vec::new();
    let mut was_taken = false;
    for (index, sentence) in all.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| &all[index]).filter(|before| before.words.len() <= LONGEST);
        let refers = before.is_some_and(|before| {
            let between = &text[before.range.end..sentence.range.start];
            refers_back(sentence.words) || !between.contains('\n') && is_short_command(sentence.words)
        });
        // "The launch is on 12 October. Plan around it."
        let goes_on = was_taken && refers && is_brief(sentence.words) && !is_question(sentence.words);
        was_taken = sentence.binding >= BINDS || goes_on;
        if !was_taken {
            continue;
        }
        let start = before.filter(|_| refers).map_or(sentence.range.start, |before| before.range.start);
        match found.last_mut().filter(|last| last.range.end > start) {
            Some(last) => {
                last.range.end = sentence.range.end;
                last.binding = last.binding.max(sentence.binding);
            }
            None => found.push(Demand { range: start..sentence.range.end, binding: sentence.binding.max(BINDS) }),
        }
    }
    found
}

/// Returns what a sentence says behind its label: with it the beginning by which a demand is known stands within the sentence. Of the
/// binding sentences of a writer who introduces them, left out when the table was fitted, .94 are found so, and .91 without.
fn behind_label(words: &str) -> Option<&str> {
    let (label, rest) = words.split_once(": ").or_else(|| words.split_once('：'))?;
    (label.len() <= LONGEST_LABEL).then(|| rest.trim_start())
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

/// Whether a sentence refers to the one before it, in English or Chinese. Linear.
pub fn refers_back(words: &str) -> bool {
    if !words.is_ascii() && words.contains(crate::text::is_cjk) {
        let near = &words[..words.floor_char_boundary(24)];
        let is_chinese = |word: &&&str| !word.is_ascii();
        return REFERRING.iter().filter(is_chinese).any(|word| near.contains(word))
            || GOING_ON.iter().filter(is_chinese).any(|word| words.starts_with(word));
    }
    let lower = words.to_lowercase();
    if GOING_ON.iter().any(|word| lower.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    {
        return true;
    }
    let mut count = 0;
    let mut refers = None;
    // `srv-one-0` is a name, and its parts are no words.
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '\'' | '-' | '_' | '/');
    for word in lower.split(|char| !is_part(char)).filter(|word| !word.is_empty()) {
        if refers.is_none() && REFERRING.contains(&word) {
            refers = Some(count);
        }
        count += 1;
    }
    refers.is_some_and(|at| at < NEAR || count <= BRIEF)
}
