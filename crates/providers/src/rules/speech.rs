//! Sentences of people and of the model, and their value for a summary.

use std::sync::{Arc, LazyLock};

use epitome_strategy::speech::{self, typed_texts};
use epitome_strategy::{Cue, CueSearch, Cues, Lexicon, Message, exact_strings};

use super::lines::columns;

/// Cues of rules that hold for the rest of a conversation.
static INSTRUCTION: LazyLock<Arc<CueSearch>> =
    LazyLock::new(|| Lexicon::standard().search(Cues::new([Cue::Instruction])));

/// Cues of sentences that state a finding, a decision, an outcome.
static FINDING: LazyLock<Arc<CueSearch>> =
    LazyLock::new(|| Lexicon::standard().search(Cues::new([Cue::Decision, Cue::Completion, Cue::Error, Cue::Fix])));

/// Cues of courtesy and small talk.
static COURTESY: LazyLock<Arc<CueSearch>> =
    LazyLock::new(|| Lexicon::standard().search(Cues::new([Cue::Conversation])));

/// The sentences of a text, in order, without those that an excerpt has cut: half a sentence says the wrong thing.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let all = speech::sentences(text).into_iter().map(|range| &text[range]);
    all.map(without_number).filter(|sentence| !sentence.contains("[… ") && !sentence.contains('|')).collect()
}

/// A sentence without its number in a list.
fn without_number(sentence: &str) -> &str {
    let rest = sentence.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_number = (1..=2).contains(&(sentence.len() - rest.len()));
    rest.strip_prefix(['.', ')']).filter(|it| is_number && it.starts_with(' ')).map_or(sentence, str::trim_start)
}

/// The sentences that a person typed into a message, in order.
pub(crate) fn typed_sentences(message: &Message) -> Vec<&str> {
    typed_texts(message)
        .flat_map(|(_, text, ranges)| ranges.into_iter().flat_map(|range| sentences(&text[range])))
        .collect()
}

/// Whether a sentence words a rule that holds for the rest of the conversation. Linear.
pub(crate) fn is_standing(sentence: &str) -> bool {
    INSTRUCTION.has(sentence)
}

/// Whether a sentence states a finding, a decision, an outcome. Linear.
pub(crate) fn is_finding(sentence: &str) -> bool {
    FINDING.has(sentence)
}

/// Whether a sentence says nothing on its own: a heading, or a line that only introduces what follows it.
pub(crate) fn is_introduction(sentence: &str) -> bool {
    columns(sentence) < 16 || sentence.ends_with([':', '：'])
}

/// The worth of a sentence of a conversation: facts with names, numbers and some length more than politeness and
/// questions; from -2 to 4.
pub(crate) fn conversational(sentence: &str) -> f32 {
    let is_question = sentence.ends_with(['?', '？']);
    let names = sentence
        .split_whitespace()
        .skip(1)
        .filter(|word| word.starts_with(|char: char| char.is_uppercase()) && *word != "I" && !word.starts_with("I'"))
        .count()
        + sentence.matches('《').count()
        + usize::from(sentence.bytes().any(|byte| byte.is_ascii_digit()));
    let length = columns(sentence) as f32 / 40.0;
    (0.5 * names as f32).min(2.0) + length.min(2.0)
        - if COURTESY.has(sentence) { 2.0 } else { 0.0 }
        - if is_question { 1.0 } else { 0.0 }
}

/// The worth of exact strings and figures in a sentence, at most 3.
pub(crate) fn exactness(sentence: &str) -> f32 {
    let is_exact = |word: &&str| {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        word.len() >= 3 && (has_digit || !exact_strings(word).is_empty())
    };
    let words = sentence.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    words.filter(is_exact).take(4).count() as f32 * 0.75
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_texts() {
        let check = |text: &str, expect: &[&str]| assert_eq!(sentences(text), expect);
        check("## Plan\n- do one\n2. do two\n```rust\nlet x;\n```\nend", &["Plan", "do one", "do two", "end"]);
        check("This is kept. [… 811 tokens elided · recall 41bb] of it. The end.", &["This is kept.", "The end."]);
    }

    #[test]
    fn kinds_of_sentences() {
        let check = |sentence: &str, standing: bool, introduction: bool| {
            assert_eq!((is_standing(sentence), is_introduction(sentence)), (standing, introduction), "{sentence}");
        };
        check("Never push to main.", true, false);
        check("The commonly used mustard sauce.", false, false);
        check("提交前必须运行测试，谢谢大家。", true, false);
        check("Here is what changed:", false, true);
    }
}
