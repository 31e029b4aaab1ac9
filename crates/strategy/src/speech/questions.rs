//! Recognises questions.

use super::sentences;

/// Words of a Chinese question.
const ASKING_CHINESE: &[&str] = &["吗", "呢", "么", "为什么", "怎么", "是不是", "有没有", "能不能", "会不会", "要不要"];

/// Whether a sentence asks, in English or Chinese.
pub(super) fn is_question(words: &str) -> bool {
    let words = words.trim_end_matches(['"', '”', '」', ')', ' ']);
    words.ends_with(['?', '？'])
        || ASKING_CHINESE[..3].iter().any(|mark| words.ends_with(mark))
        || ASKING_CHINESE[3..].iter().any(|mark| words.contains(mark))
}

/// Words that open a question which has no mark.
const ASKING: &[&str] = &[
    "who", "whose", "what", "what's", "whats", "when", "where", "which", "how", "why", "did", "do", "does", "is",
    "are", "was", "were", "can", "could", "would", "will", "should", "tell", "remind", "recall", "show", "list",
    "explain",
];

/// Whether a text asks something: one of its sentences ends with a question mark, or starts with a word that asks, in
/// English or Chinese. Linear.
pub fn asks(text: &str) -> bool {
    sentences(text).into_iter().map(|range| &text[range]).any(|sentence| {
        let first = sentence.split(|char: char| !(char.is_alphanumeric() || char == '\'')).next().unwrap_or_default();
        is_question(sentence) || ASKING.iter().any(|word| first.eq_ignore_ascii_case(word))
    })
}
