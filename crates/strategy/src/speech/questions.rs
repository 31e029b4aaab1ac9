//! Recognises questions.

use std::sync::LazyLock;

use super::sentences;
use crate::lists::LISTS;

/// Words of a Chinese question, anywhere in it.
static ASKING_WITHIN: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("asking within"));

/// Whether a sentence asks, in English or Chinese.
pub(super) fn is_question(words: &str) -> bool {
    let words = words.trim_end_matches(['"', '”', '」', ')', ' ']);
    words.ends_with(['?', '？', '吗', '呢', '么']) || ASKING_WITHIN.iter().any(|word| words.contains(word))
}

/// Words that open a question which has no mark.
static ASKING: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("asking"));

/// Whether a text asks something: one of its sentences ends with a question mark, or starts with a word that asks, in
/// English or Chinese. Linear.
pub fn asks(text: &str) -> bool {
    sentences(text).into_iter().map(|range| &text[range]).any(|sentence| {
        let first = sentence.split(|char: char| !(char.is_alphanumeric() || char == '\'')).next().unwrap_or_default();
        is_question(sentence) || ASKING.iter().any(|word| first.eq_ignore_ascii_case(word))
    })
}
