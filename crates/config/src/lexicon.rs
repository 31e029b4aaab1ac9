//! The cue words that a configuration adds to those that ship.

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_strategy::{Cue, Lexicon, LexiconError, SettingType, SettingsTable};

use crate::config::Config;
use crate::error::Problem;

/// The words of a configuration by what they tell; cues without words are left out.
fn words(config: &Config) -> BTreeMap<Cue, Vec<String>> {
    let words = |cue: Cue| {
        let value = config.tables.lexicon.get(&key(cue))?;
        let words: Vec<String> = SettingType::from_value(&value).ok()?;
        (!words.is_empty()).then_some((cue, words))
    };
    Cue::ALL.into_iter().filter_map(words).collect()
}

/// The key of a cue in the file.
fn key(cue: Cue) -> String {
    cue.as_str().replace('-', "_")
}

/// The words that ship, and those that the configuration adds.
pub(crate) fn lexicon(config: &Config) -> Result<Arc<Lexicon>, Problem> {
    let words = words(config);
    if words.is_empty() {
        return Ok(Lexicon::standard());
    }
    Lexicon::extended(&words).map(Arc::new).map_err(|error| Problem::new(None, describe_error(&error)))
}

/// Every word that cannot be searched for.
pub(crate) fn problems(config: &Config) -> Vec<Problem> {
    let mut words = words(config);
    let mut problems = Vec::new();
    // Each turn takes the word out that was refused, so that the next one is found.
    while let Err(error) = (!words.is_empty()).then(|| Lexicon::extended(&words)).transpose() {
        let holding = words.iter_mut().find(|(_, words)| words.contains(&error.word));
        let Some((cue, refused)) = holding else {
            problems.push(Problem::new(None, format!("[lexicon] {}", describe_error(&error))));
            return problems;
        };
        let path = format!("lexicon.{}", key(*cue));
        let listed: Vec<String> =
            config.tables.lexicon.get(&key(*cue)).and_then(|it| SettingType::from_value(&it).ok()).unwrap_or_default();
        for (index, _) in listed.iter().enumerate().filter(|(_, word)| **word == error.word) {
            problems.push(Problem::new(
                config.sources.place_of_item(&path, index),
                format!("`{}` {}", key(*cue), describe_error(&error)),
            ));
        }
        refused.retain(|word| *word != error.word);
    }
    problems
}

/// The problem of a word, on one line: errors of regular expressions are drawn on several.
fn describe_error(error: &LexiconError) -> String {
    let last = error.problem.lines().last().unwrap_or_default().trim();
    let problem = last.strip_prefix("error: ").unwrap_or(last);
    format!("cannot have {:?}: {problem}", error.word)
}
