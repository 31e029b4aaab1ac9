//! Reads `words.txt`.

use super::cue::{Cue, LexiconError};
use crate::named::UnknownName;

/// Returns the entries of a file of words, each with the cue of its section. They are not checked by [`check_word`]: a
/// test does that for the words that ship, so that no program has to when it starts.
pub(super) fn entries(file: &str) -> Result<Vec<(Cue, String)>, LexiconError> {
    let mut entries = Vec::new();
    let mut section = None;
    for line in file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let problem = |problem: &str| LexiconError { word: line.to_owned(), problem: problem.to_owned() };
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(name.parse().map_err(|error: UnknownName| problem(&error.to_string()))?);
        } else {
            let cue = section.ok_or_else(|| problem("stands in no section"))?;
            entries.push((cue, line.to_owned()));
        }
    }
    Ok(entries)
}

/// Returns the word without white space around it. Errors where it cannot be searched for.
pub(super) fn check_word(word: &str) -> Result<&str, LexiconError> {
    let problem = |problem: String| LexiconError { word: word.to_owned(), problem };
    let word = word.trim();
    if word.trim_start_matches('^').trim().is_empty() {
        return Err(problem("an empty word is in every text".to_owned()));
    }
    if let Some(pattern) = pattern(word) {
        let regex = regex::Regex::new(pattern).map_err(|error| problem(error.to_string()))?;
        if ["", "a word"].iter().any(|text| regex.find_iter(text).any(|found| found.is_empty())) {
            return Err(problem("the pattern matches the empty text".to_owned()));
        }
        if regex.capture_names().flatten().next().is_some() {
            return Err(problem("a pattern's groups take no names".to_owned()));
        }
    }
    Ok(word)
}

/// Returns the regular expression between two slashes.
pub(super) fn pattern(word: &str) -> Option<&str> {
    word.strip_prefix('/')?.strip_suffix('/').filter(|pattern| !pattern.is_empty())
}
