//! Cue words: what a text is about, by the words in it. The words are data, in `words.txt`.

mod parse;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use thiserror::Error;

use crate::text::ends_sentence;

/// What a word or a phrase tells of the text in which it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cue {
    /// Somebody calls it important.
    Important,
    /// Somebody wants it remembered.
    Remember,
    /// A standing instruction: must, never, always.
    Instruction,
    /// What somebody likes or wants.
    Preference,
    /// Something was decided or concluded.
    Decision,
    /// A task starts.
    TaskStart,
    /// A task, or a part of it, is done.
    Completion,
    /// Something went wrong.
    Error,
    /// Something was put right.
    Fix,
    /// A question that is to be answered.
    Question,
    /// What is still to do.
    Plan,
    /// The talk turns to something else.
    TopicShift,
    /// The talk of people who write code.
    Code,
    /// The talk of people who look into something.
    Analysis,
    /// Small talk and courtesy.
    Conversation,
}

impl Cue {
    /// Every cue with its name in `words.txt` and in configurations.
    pub const ALL: [(Self, &str); 15] = [
        (Self::Important, "important"),
        (Self::Remember, "remember"),
        (Self::Instruction, "instruction"),
        (Self::Preference, "preference"),
        (Self::Decision, "decision"),
        (Self::TaskStart, "task-start"),
        (Self::Completion, "completion"),
        (Self::Error, "error"),
        (Self::Fix, "fix"),
        (Self::Question, "question"),
        (Self::Plan, "plan"),
        (Self::TopicShift, "topic-shift"),
        (Self::Code, "code"),
        (Self::Analysis, "analysis"),
        (Self::Conversation, "conversation"),
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The cue of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(cue, _)| *cue)
    }
}

/// How often each cue was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CueCounts([u32; Cue::ALL.len()]);

impl CueCounts {
    /// How often.
    pub fn of(&self, cue: Cue) -> u32 {
        self.0[cue as usize]
    }

    /// Whether it was met at all.
    pub fn has(&self, cue: Cue) -> bool {
        self.of(cue) > 0
    }

    /// Adds those of another text.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }
}

/// A cue in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueMatch {
    /// Which.
    pub cue: Cue,
    /// The bytes of the word or phrase.
    pub range: Range<usize>,
}

/// Why words could not be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{word}`: {problem}")]
pub struct LexiconError {
    /// The word or the pattern.
    pub word: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Cue words and how to find them: words and phrases by one automaton over all of them, patterns by one regular
/// expression for each cue that has some.
pub struct Lexicon {
    words: Vec<String>,
    /// The cues of each word, as bits by position in [`Cue::ALL`]: wherever it stands, and at the start of a sentence.
    cues: Vec<Bits>,
    automaton: AhoCorasick,
    patterns: Vec<(Cue, Regex)>,
}

/// The cues of a word, as bits by position in [`Cue::ALL`].
#[derive(Debug, Clone, Copy, Default)]
struct Bits {
    /// Wherever it stands.
    anywhere: u32,
    /// Only at the start of a sentence.
    opening: u32,
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lexicon").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

static STANDARD: LazyLock<Arc<Lexicon>> = LazyLock::new(|| {
    let words = Lexicon::extended(&BTreeMap::new());
    Arc::new(words.unwrap_or_else(|error| unreachable!("a test reads the words that ship: {error}")))
});

impl Lexicon {
    /// The words that ship. Built on first use.
    pub fn standard() -> Arc<Self> {
        Arc::clone(&STANDARD)
    }

    /// The same for as long as the program runs.
    pub(crate) fn shipped() -> &'static Self {
        &STANDARD
    }

    /// The words that ship and `more`. A word between two slashes is a regular expression; one behind `^` counts where a
    /// sentence starts with it.
    pub fn extended(more: &BTreeMap<Cue, Vec<String>>) -> Result<Self, LexiconError> {
        let mut entries = parse::entries(include_str!("words.txt"))?;
        for (cue, words) in more {
            for word in words {
                entries.push((*cue, parse::checked(word)?));
            }
        }
        Self::of(entries)
    }

    fn of(entries: Vec<(Cue, String)>) -> Result<Self, LexiconError> {
        let mut by_word: BTreeMap<String, Bits> = BTreeMap::new();
        let mut by_cue: BTreeMap<Cue, Vec<String>> = BTreeMap::new();
        for (cue, word) in entries {
            match parse::pattern(&word) {
                Some(pattern) => by_cue.entry(cue).or_default().push(pattern.to_owned()),
                None => match word.strip_prefix('^') {
                    Some(word) => by_word.entry(word.to_lowercase()).or_default().opening |= 1 << cue as u32,
                    None => by_word.entry(word.to_lowercase()).or_default().anywhere |= 1 << cue as u32,
                },
            }
        }
        let (words, cues): (Vec<String>, Vec<Bits>) = by_word.into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(&words)
            .map_err(|error| LexiconError { word: format!("{} words", words.len()), problem: error.to_string() })?;
        let patterns = by_cue
            .into_iter()
            .map(|(cue, patterns)| {
                let grouped: Vec<String> = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect();
                let joined = format!("(?m){}", grouped.join("|"));
                let error = |error: regex::Error| LexiconError { word: joined.clone(), problem: error.to_string() };
                Ok((cue, Regex::new(&joined).map_err(error)?))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { words, cues, automaton, patterns })
    }

    /// The cues in a text: those of words in the order of the text, then those of patterns. A phrase hides shorter words
    /// in it. Linear in the text.
    pub fn find<'l>(&'l self, text: &'l str) -> impl Iterator<Item = CueMatch> + 'l {
        let by_word =
            self.automaton.find_iter(text).filter(|found| is_whole(text, found.range())).flat_map(move |found| {
                let bits = self.cues[found.pattern().as_usize()];
                let opens = bits.opening & !bits.anywhere != 0 && opens_sentence(text, found.start());
                let cues = if opens { bits.anywhere | bits.opening } else { bits.anywhere };
                let holds = move |(cue, _): &&(Cue, &str)| cues & (1 << *cue as u32) != 0;
                Cue::ALL.iter().filter(holds).map(move |(cue, _)| CueMatch { cue: *cue, range: found.range() })
            });
        let by_pattern = self.patterns.iter().flat_map(move |(cue, regex)| {
            regex.find_iter(text).map(|found| CueMatch { cue: *cue, range: found.range() })
        });
        by_word.chain(by_pattern)
    }

    /// How often each cue stands in a text. Linear in the text.
    pub fn counts(&self, text: &str) -> CueCounts {
        let mut counts = CueCounts::default();
        for found in self.find(text) {
            counts.0[found.cue as usize] = counts.of(found.cue).saturating_add(1);
        }
        counts
    }

    /// The words and phrases of a cue, sorted; those that only count at the start of a sentence among them.
    pub fn words(&self, cue: Cue) -> impl Iterator<Item = &str> {
        let of = move |(_, bits): &(&String, &Bits)| (bits.anywhere | bits.opening) & (1 << cue as u32) != 0;
        self.words.iter().zip(&self.cues).filter(of).map(|(word, _)| word.as_str())
    }
}

/// Whether what stands at `range` is a word of its own: no Latin letter or digit goes on where it starts or ends with
/// one. Chinese words have no such edges.
fn is_whole(text: &str, range: Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let goes_on = |inside: u8, outside: Option<&u8>| {
        inside.is_ascii_alphanumeric() && outside.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
    !range.is_empty() && !goes_on(bytes[range.start], before) && !goes_on(bytes[range.end - 1], bytes.get(range.end))
}

/// Whether a sentence starts at `at`: with the text, with a line (behind bullets and numbers), or behind the end of
/// another sentence. Constant time but for white space and bullets.
fn opens_sentence(text: &str, at: usize) -> bool {
    let is_mark = |char: char| matches!(char, ' ' | '\t' | '-' | '*' | '#' | '>' | '•' | '"' | '“' | '「' | '(' | '（');
    let before = text[..at].trim_end_matches(is_mark);
    let Some(last) = before.chars().next_back() else { return true };
    if last == '\n' || !last.is_ascii() && ends_sentence(last) {
        return true;
    }
    // What ends with a mark and a space ends a sentence, as does a list's number.
    matches!(last, '.' | '!' | '?' | ')') && before.len() < at
}

#[cfg(test)]
mod tests;
