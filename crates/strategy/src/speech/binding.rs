//! The probability that a sentence of a person binds what comes later: a standing demand, or a fact to keep in mind.
//!
//! People word standing demands in countless ways; lists of cues found two thirds of them in the text of a new writer,
//! and took a quarter of everything else. The table beside this file is a logistic regression over words, pairs of
//! words and the beginnings of sentences. `tools/binding` has the sentences that it was fitted to and the program that
//! fits it.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::text::{fnv, is_cjk};

/// One line per feature, with its weight in hundredths in front; the first line has the bias.
const TABLE: &str = include_str!("binding.txt");

/// The divisor of the table's weights.
const SCALE: f32 = 100.0;

/// The lengths of a sentence in words from which on it belongs to the next class of length.
const LENGTHS: [usize; 4] = [5, 10, 20, 35];

struct Table {
    bias: f32,
    /// The weights by the hash of a feature.
    weights: HashMap<u64, f32>,
}

static SHIPPED: LazyLock<Table> = LazyLock::new(|| {
    let rows = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let mut rows = rows.map(|(weight, feature)| (weight.parse().unwrap_or(0.0) / SCALE, feature));
    let bias = rows.next().map_or(0.0, |(bias, _)| bias);
    Table { bias, weights: rows.map(|(weight, feature)| (hash("", &[feature]), weight)).collect() }
});

/// Returns the probability that a sentence of a person binds what comes later, from 0 to 1. Linear in the sentence.
pub fn binding(sentence: &str) -> f32 {
    let found = features(sentence);
    let known: f32 = found.iter().filter_map(|feature| SHIPPED.weights.get(feature)).sum();
    let score = SHIPPED.bias + known / (found.len() as f32 + 1.0).sqrt();
    1.0 / (1.0 + (-score).exp())
}

/// Returns the hash of a feature: `lead` and the words with a space between each two.
fn hash(lead: &str, words: &[impl AsRef<str>]) -> u64 {
    let spaced = words.iter().enumerate().flat_map(|(at, word)| [if at > 0 { " " } else { "" }, word.as_ref()]);
    fnv([lead].into_iter().chain(spaced).flat_map(str::bytes))
}

/// Returns the hashes of a sentence's features, each once: its words, their pairs (of Chinese characters threes too),
/// its first word and its first two, and its class of length.
fn features(sentence: &str) -> Vec<u64> {
    let words = tokens(sentence);
    let is_chinese = |word: &String| word.chars().all(is_cjk);
    let threes = words.windows(3).filter(|three| three.iter().all(is_chinese));
    let runs = words.windows(1).chain(words.windows(2)).chain(threes);
    let mut found: Vec<u64> = runs.map(|run| hash("", run)).collect();
    if !words.is_empty() {
        found.push(hash("^ ", &words[..1]));
        found.push(hash("^ ", &words[..words.len().min(2)]));
    }
    let length = LENGTHS.iter().filter(|least| words.len() >= **least).count();
    found.push(hash("# ", &[length.to_string()]));
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns words in lower case, marks, single Chinese characters; numbers as one word. An exclamation mark says in what mood
/// somebody writes: in the fitted sentences hardly one that binds has it, and people shout demands.
fn tokens(sentence: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = sentence.chars().map(half_width).flat_map(char::to_lowercase).peekable();
    while let Some(char) = chars.next() {
        let is_letter = |char: char| char.is_alphanumeric() && !is_cjk(char);
        let joins = char == '\'' && !word.is_empty() && chars.peek().is_some_and(|next| is_letter(*next));
        if is_letter(char) || joins {
            word.push(char);
            continue;
        }
        end_word(&mut word, &mut tokens);
        if is_cjk(char) || "?:;,$%€£¥".contains(char) {
            tokens.push(char.to_string());
        }
    }
    end_word(&mut word, &mut tokens);
    tokens
}

fn end_word(word: &mut String, tokens: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    let word = std::mem::take(word);
    tokens.push(match word.chars().any(char::is_numeric) {
        true if word.chars().all(char::is_numeric) => "0".to_owned(),
        true => "0x".to_owned(),
        false => word,
    });
}

fn half_width(char: char) -> char {
    match char {
        '？' => '?',
        '：' => ':',
        '；' => ';',
        '，' => ',',
        '’' => '\'',
        char => char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_sentence() {
        let check = |sentence: &str, expect: &[&str]| assert_eq!(tokens(sentence), expect, "{sentence}");
        check("Don’t touch v1.2, OK?", &["don't", "touch", "0x", "0", ",", "ok", "?"]);
        check("rock 'n' roll_over", &["rock", "n", "roll", "over"]);
        check("我对花生过敏，预算1500元！", &["我", "对", "花", "生", "过", "敏", ",", "预", "算", "0", "元"]);
        check("", &[]);
    }

    /// The generator and this module must compute the same features of a sentence.
    #[test]
    fn the_generator_reckons_alike() {
        let cases = include_str!("fixtures/binding.txt").lines().filter_map(|line| line.split_once('\t'));
        let mut count = 0;
        for (expect, sentence) in cases {
            let expect: f32 = expect.parse().unwrap_or(f32::NAN);
            assert!(
                (binding(sentence) - expect).abs() < 0.002,
                "{sentence}: {} instead of {expect}",
                binding(sentence)
            );
            count += 1;
        }
        assert!(count >= 50, "{count} cases");
    }
}
