//! The sentences of a text that demand something, or tell a fact that has to be kept.
//!
//! Which sentences do is read off a table; words that a configuration adds to the lexicon always do. Here stands which
//! sentences belong together.

use std::ops::Range;

use super::binding::binding;
use super::questions::is_question;
use super::sentences::sentences;
use crate::lexicon::{Cue, Cues, Lexicon};

/// The probability from which on a sentence is taken to bind: what passes taken costs a line, what binds left a promise.
const BINDS: f32 = 0.4;

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

/// What a person demands, or tells to be kept in mind.
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

/// The sentences of a typed text that demand something or tell a fact to be kept, each with the sentence before it where it
/// refers to that; ascending, without overlaps. Linear.
pub fn demands(lexicon: &Lexicon, text: &str) -> Vec<Demand> {
    let own = lexicon.added();
    let cues = Cues::of([Cue::Instruction, Cue::Preference, Cue::Remember, Cue::Important]);
    let binds = |words: &str| match own {
        _ if words.len() > LONGEST => 0.0,
        Some(own) if own.has(words, cues) => 1.0,
        _ => binding(words),
    };
    let all: Vec<Sentence<'_>> = sentences(text)
        .into_iter()
        .map(|range| Sentence { words: &text[range.clone()], binding: binds(&text[range.clone()]), range })
        .collect();
    joined(text, &all)
}

/// The taken sentences with those that they refer to, and those that refer to them.
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
