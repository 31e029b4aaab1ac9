//! Cue words: words that indicate the subject of a text. The words are data, in `words.txt`.

mod parse;
mod phrases;
mod search;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use regex::Regex;
use thiserror::Error;

use crate::text::ends_sentence;

pub use search::CueSearch;

/// What a word or a phrase indicates about its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cue {
    /// Something is called important.
    Important,
    /// Something is to be remembered.
    Remember,
    /// A standing instruction: must, never, always.
    Instruction,
    /// A person's preference or wish.
    Preference,
    /// Something was decided or concluded.
    Decision,
    /// A task starts.
    TaskStart,
    /// A task, or a part of it, is done.
    Completion,
    /// Something failed.
    Error,
    /// Something was repaired.
    Fix,
    /// A question that needs an answer.
    Question,
    /// The subject changes.
    TopicShift,
    /// People who write code talk.
    Code,
    /// People who investigate something talk.
    Analysis,
    /// Small talk and courtesy.
    Conversation,
}

crate::named! {
    Cue {
        Important = "important",
        Remember = "remember",
        Instruction = "instruction",
        Preference = "preference",
        Decision = "decision",
        TaskStart = "task-start",
        Completion = "completion",
        Error = "error",
        Fix = "fix",
        Question = "question",
        TopicShift = "topic-shift",
        Code = "code",
        Analysis = "analysis",
        Conversation = "conversation",
    }
}

/// How often each cue occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CueCounts([u32; Cue::ALL.len()]);

impl CueCounts {
    /// Returns how often a cue occurs.
    pub fn count(&self, cue: Cue) -> u32 {
        self.0[cue as usize]
    }

    /// Whether a cue occurs at all.
    pub fn has(&self, cue: Cue) -> bool {
        self.count(cue) > 0
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }
}

/// A cue in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueMatch {
    /// The cue.
    pub cue: Cue,
    /// The bytes of the word or phrase.
    pub range: Range<usize>,
}

/// Why words could not be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{word}`: {problem}")]
pub struct LexiconError {
    /// The word or the pattern, as it was given.
    pub word: String,
    /// What is wrong with it.
    pub problem: String,
}

/// The first bit of the cues that a word has only at the start of a sentence.
const OPENING: u32 = 16;

/// A set of cues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cues(u32);

impl Cues {
    /// Returns every cue.
    pub const ALL: Self = Self((1 << Cue::ALL.len()) - 1);

    /// Returns the given cues.
    pub const fn new<const COUNT: usize>(cues: [Cue; COUNT]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < COUNT {
            bits |= 1 << cues[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// Whether a cue is in the set.
    pub const fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u32) != 0
    }

    /// Returns the bits of cues that a word has only at the start of a sentence: the same bits, further up.
    const fn opening(cue: Cue) -> Self {
        Self(1 << (cue as u32 + OPENING))
    }

    /// Returns those of a word's cues that are among `wanted`.
    const fn and(self, wanted: Self) -> Self {
        Self(self.0 & (wanted.0 | wanted.0 << OPENING))
    }

    /// Returns a word's cues in its place; `opens` says whether a sentence starts with it.
    fn in_place(self, opens: impl FnOnce() -> bool) -> Self {
        let (anywhere, opening) = (self.0 & Self::ALL.0, self.0 >> OPENING);
        Self(if opening & !anywhere != 0 && opens() { anywhere | opening } else { anywhere })
    }

    const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Cue words and patterns. [`CueSearch`] finds them; a search that is never asked for is never built.
pub struct Lexicon {
    /// Every word in lower case, sorted, with its cues.
    words: Vec<(String, Cues)>,
    patterns: Vec<Pattern>,
    /// The words that were added to those that ship, as a lexicon of their own.
    added: Option<Box<Lexicon>>,
    /// The searches that were asked for; there are only a few.
    searches: RwLock<Vec<(Cues, Arc<CueSearch>)>>,
}

/// Returns the regular expressions of a cue as one.
struct Pattern {
    cue: Cue,
    source: String,
    regex: OnceLock<Result<Regex, LexiconError>>,
}

impl Pattern {
    fn regex(&self) -> Result<Regex, LexiconError> {
        let compile = || {
            Regex::new(&self.source)
                .map_err(|error| LexiconError { word: self.source.clone(), problem: error.to_string() })
        };
        self.regex.get_or_init(compile).clone()
    }
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
    /// Returns the words that ship, read on first use; a search is built for the cues that are asked for.
    pub fn standard() -> Arc<Self> {
        Arc::clone(&STANDARD)
    }

    /// Returns the words that ship, for as long as the program runs.
    pub(crate) fn shipped() -> &'static Self {
        &STANDARD
    }

    /// Returns the words that ship and `more`. A word between two slashes is a regular expression; one behind `^`
    /// counts where a sentence starts with it. With `more` everything is built at once, so that an error in a pattern
    /// is reported here.
    pub fn extended(more: &BTreeMap<Cue, Vec<String>>) -> Result<Self, LexiconError> {
        let mut added = Vec::new();
        for (cue, words) in more {
            for word in words {
                added.push((*cue, parse::check_word(word)?.to_owned()));
            }
        }
        let mut entries = parse::entries(include_str!("words.txt"))?;
        entries.extend(added.iter().cloned());
        let mut lexicon = Self::from_entries(entries);
        if !added.is_empty() {
            CueSearch::new(&lexicon, Cues::ALL)?;
            lexicon.added = Some(Box::new(Self::from_entries(added)));
        }
        Ok(lexicon)
    }

    fn from_entries(entries: Vec<(Cue, String)>) -> Self {
        let mut by_word: BTreeMap<String, u32> = BTreeMap::new();
        let mut by_cue: BTreeMap<Cue, Vec<String>> = BTreeMap::new();
        for (cue, word) in entries {
            match parse::pattern(&word) {
                Some(pattern) => by_cue.entry(cue).or_default().push(format!("(?:{pattern})")),
                None => match word.strip_prefix('^') {
                    Some(word) => *by_word.entry(word.to_lowercase()).or_default() |= Cues::opening(cue).0,
                    None => *by_word.entry(word.to_lowercase()).or_default() |= Cues::new([cue]).0,
                },
            }
        }
        let pattern = |(cue, patterns): (Cue, Vec<String>)| {
            let source = format!("(?m){}", patterns.join("|"));
            Pattern { cue, source, regex: OnceLock::new() }
        };
        Self {
            words: by_word.into_iter().map(|(word, bits)| (word, Cues(bits))).collect(),
            patterns: by_cue.into_iter().map(pattern).collect(),
            added: None,
            searches: RwLock::new(Vec::new()),
        }
    }

    /// Returns the words that were added to those that ship; `None` where none were. A sentence of a person that
    /// contains one for an instruction, for a preference or for something to remember is a demand, whatever else it
    /// says.
    pub fn added(&self) -> Option<&Self> {
        self.added.as_deref()
    }

    /// Returns the search for some cues. Built on first use, in time linear in their words, and kept for as long as the
    /// lexicon lives.
    pub fn search(&self, cues: Cues) -> Arc<CueSearch> {
        let known = |searches: &[(Cues, Arc<CueSearch>)]| {
            searches.iter().find(|(of, _)| *of == cues).map(|(_, search)| Arc::clone(search))
        };
        // Searches are only ever added whole, so a panic elsewhere leaves the list valid.
        if let Some(search) = known(&self.searches.read().unwrap_or_else(PoisonError::into_inner)) {
            return search;
        }
        let mut searches = self.searches.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(search) = known(&searches) {
            return search;
        }
        let search = CueSearch::new(self, cues);
        let search = search.unwrap_or_else(|error| unreachable!("all of it was built or ships: {error}"));
        let search = Arc::new(search);
        searches.push((cues, Arc::clone(&search)));
        search
    }

    /// Whether any of `cues` is in a text. Linear in the text. For many texts, keep the [`search`](Self::search).
    pub fn has(&self, text: &str, cues: Cues) -> bool {
        self.search(cues).has(text)
    }

    /// Returns every cue in a text: those of words in the order of the text, then those of patterns. A phrase hides
    /// shorter words in it. Linear in the text.
    pub fn find(&self, text: &str) -> impl Iterator<Item = CueMatch> {
        self.search(Cues::ALL).find(text).into_iter()
    }

    /// Returns how often each cue occurs in a text. Linear in the text.
    pub fn counts(&self, text: &str) -> CueCounts {
        self.search(Cues::ALL).counts(text)
    }

    /// Returns the words and phrases of a cue, sorted, with those that only count at the start of a sentence.
    pub fn words(&self, cue: Cue) -> impl Iterator<Item = &str> {
        let of = move |cues: Cues| cues.and(Cues::new([cue])) != Cues(0);
        self.words.iter().filter(move |(_, cues)| of(*cues)).map(|(word, _)| word.as_str())
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

#[cfg(test)]
mod tests;
