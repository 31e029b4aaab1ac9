//! Lists of words, which are data: `words.txt`.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;

/// Every list by the name of its section.
static LISTS: LazyLock<HashMap<&'static str, Vec<String>>> = LazyLock::new(|| lists(include_str!("words.txt")));

/// A list of words, read when it is first used.
pub(super) struct Words {
    section: &'static str,
    words: OnceLock<Vec<&'static str>>,
    /// Finds all of them in one pass; none where the words are too many for one.
    finder: OnceLock<Option<AhoCorasick>>,
}

impl Words {
    /// The list of a section, which must be there: a test reads them all.
    pub(super) const fn of_section(section: &'static str) -> Self {
        Self { section, words: OnceLock::new(), finder: OnceLock::new() }
    }
}

impl Words {
    fn finder(&self) -> Option<&AhoCorasick> {
        self.finder.get_or_init(|| AhoCorasick::new(self.iter()).ok()).as_ref()
    }

    /// Whether a text in lower case has one of the words with no letter or digit beside it, Chinese words anywhere.
    /// Linear in the text, for any number of words.
    pub(super) fn stand_in(&self, lower: &str) -> bool {
        let Some(finder) = self.finder() else { return self.iter().any(|word| has_word(lower, word)) };
        finder.find_overlapping_iter(lower).any(|found| is_free(lower, found.range()))
    }

    /// Whether one of the words occurs anywhere in a text in lower case. Linear in the text.
    pub(super) fn occur_in(&self, lower: &str) -> bool {
        let Some(finder) = self.finder() else { return self.iter().any(|word| lower.contains(word)) };
        finder.is_match(lower)
    }
}

impl Deref for Words {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.words.get_or_init(|| {
            let list: &'static [String] = LISTS.get(self.section).map_or(&[], Vec::as_slice);
            list.iter().map(String::as_str).collect()
        })
    }
}

/// Whether a text in lower case has a word with no letter or digit beside it; Chinese words anywhere.
pub(super) fn has_word(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| is_free(lower, at..at + word.len()))
}

/// Whether a part of a text that begins or ends with a letter or digit has none beside it.
fn is_free(text: &str, part: Range<usize>) -> bool {
    let stands = |edge: Option<char>, other: Option<char>| {
        !(edge.is_some_and(|char| char.is_ascii_alphanumeric())
            && other.is_some_and(|char| char.is_ascii_alphanumeric() || char == '\''))
    };
    let word = &text[part.clone()];
    stands(word.chars().next(), text[..part.start].chars().next_back())
        && stands(word.chars().next_back(), text[part.end..].chars().next())
}

fn lists(file: &'static str) -> HashMap<&'static str, Vec<String>> {
    let mut lists: HashMap<&'static str, Vec<String>> = HashMap::new();
    let mut section = "";
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            continue;
        }
        let words = line.split(" | ").map(|word| match word.strip_suffix('_') {
            Some(open) => format!("{open} "),
            None => word.to_owned(),
        });
        lists.entry(section).or_default().extend(words);
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that is named and not there would find nothing, silently.
    #[test]
    fn every_list_that_is_named_is_there() {
        let sources = [
            include_str!("alone.rs"),
            include_str!("facts.rs"),
            include_str!("model.rs"),
            include_str!("person.rs"),
            include_str!("work/conclusion.rs"),
            include_str!("work/place_names.rs"),
        ];
        let mut named: Vec<&str> = sources
            .iter()
            .flat_map(|source| source.split("Words::of_section(\"").skip(1))
            .filter_map(|rest| rest.split('"').next())
            .collect();
        named.sort_unstable();
        named.dedup(); // what two of them use is named twice
        let mut there: Vec<&str> = LISTS.keys().copied().collect();
        there.sort_unstable();
        assert_eq!(named, there);
        for (section, words) in LISTS.iter() {
            assert!(words.iter().all(|word| !word.trim().is_empty() && *word == word.to_lowercase()), "{section}");
        }
    }
}
