//! Cue words: words that indicate the subject of a text. The words are data, in `words.txt`.

mod cue;
mod parse;
mod phrases;
mod search;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use regex::Regex;

pub use cue::{Cue, CueCounts, CueMatch, Cues, LexiconError};
pub use search::CueSearch;

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

#[cfg(test)]
mod tests;
