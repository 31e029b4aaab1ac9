//! The probability that a sentence of a person binds what comes later: a standing demand, or a fact to keep in mind.
//!
//! People word standing demands in countless ways; lists of cues found two thirds of them in the text of a new writer,
//! and took a quarter of everything else. The table beside this file is a logistic regression over words, pairs of
//! words and the beginnings of sentences. `tools/binding` has the sentences that it was fitted to and the program that
//! fits it.

use std::ops::Range;
use std::sync::LazyLock;

use crate::keys::{KeyMap, key_of};
use crate::text::is_cjk;

/// One line per feature, with its weight in hundredths in front; the first line has the bias.
const TABLE: &str = include_str!("binding.txt");

/// The divisor of the table's weights.
const SCALE: f32 = 100.0;

/// The lengths of a sentence in words from which on it belongs to the next class of length.
const LENGTHS: [usize; 4] = [5, 10, 20, 35];

/// Bytes of a short row of the table: a map with room for all of them grows once.
const BYTES_OF_A_ROW: usize = 10;

struct Table {
    bias: f32,
    /// The weights by the key of a feature.
    weights: KeyMap<f32>,
}

static SHIPPED: LazyLock<Table> = LazyLock::new(|| {
    let rows = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let weight = |digits: &str| digits.parse::<i16>().map_or(0.0, f32::from) / SCALE;
    let mut rows = rows.map(|(digits, feature)| (weight(digits), feature));
    let bias = rows.next().map_or(0.0, |(bias, _)| bias);
    let mut weights = KeyMap::default();
    weights.reserve(TABLE.len() / BYTES_OF_A_ROW);
    weights.extend(rows.map(|(weight, feature)| (feature_key("", &[feature]), weight)));
    Table { bias, weights }
});

/// Returns the probability that a sentence of a person binds what comes later, from 0 to 1. Linear in the sentence.
pub fn binding(sentence: &str) -> f32 {
    let found = features(sentence);
    let known: f32 = found.iter().filter_map(|feature| SHIPPED.weights.get(feature)).sum();
    let score = SHIPPED.bias + known / (found.len() as f32 + 1.0).sqrt();
    1.0 / (1.0 + (-score).exp())
}

/// Returns the key of a feature: `lead` and the words with a space between each two.
fn feature_key(lead: &str, words: &[&str]) -> u64 {
    let spaced = words.iter().enumerate().flat_map(|(at, word)| [if at > 0 { " " } else { "" }, word]);
    key_of([lead].into_iter().chain(spaced).flat_map(str::bytes))
}

/// Returns the keys of a sentence's features, each once: its words, their pairs (of Chinese characters threes too),
/// its first word and its first two, and its class of length.
fn features(sentence: &str) -> Vec<u64> {
    let tokens = Tokens::read(sentence);
    let words: Vec<&str> = tokens.words().collect();
    let is_chinese = |word: &&str| word.chars().all(is_cjk);
    let threes = words.windows(3).filter(|three| three.iter().all(is_chinese));
    let runs = words.windows(1).chain(words.windows(2)).chain(threes);
    let mut found: Vec<u64> = runs.map(|run| feature_key("", run)).collect();
    if !words.is_empty() {
        found.push(feature_key("^ ", &words[..1]));
        found.push(feature_key("^ ", &words[..words.len().min(2)]));
    }
    let length = LENGTHS.iter().filter(|least| words.len() >= **least).count();
    found.push(feature_key("# ", &[["0", "1", "2", "3", "4"][length]]));
    found.sort_unstable();
    found.dedup();
    found
}

/// Words in lower case, marks, single Chinese characters; numbers as one word. An exclamation mark says in what mood
/// somebody writes: in the fitted sentences hardly one that binds has it, and people shout demands.
#[derive(Debug, Default)]
struct Tokens {
    /// All of them, one behind the other.
    text: String,
    ranges: Vec<Range<usize>>,
}

impl Tokens {
    fn read(sentence: &str) -> Self {
        let mut tokens = Self { text: String::with_capacity(sentence.len()), ranges: Vec::new() };
        let mut start = 0;
        let mut chars = sentence.chars().map(half_width).flat_map(char::to_lowercase).peekable();
        while let Some(char) = chars.next() {
            let is_letter = |char: char| char.is_alphanumeric() && !is_cjk(char);
            let joins = char == '\'' && tokens.text.len() > start && chars.peek().is_some_and(|next| is_letter(*next));
            if is_letter(char) || joins {
                tokens.text.push(char);
                continue;
            }
            start = tokens.end_word(start);
            if is_cjk(char) || "?:;,$%€£¥".contains(char) {
                tokens.text.push(char);
                start = tokens.end(start);
            }
        }
        tokens.end_word(start);
        tokens
    }

    /// Ends the word that starts there, if one does: a number stands for all numbers, a name with digits for all such names.
    fn end_word(&mut self, start: usize) -> usize {
        let word = &self.text[start..];
        if word.is_empty() {
            return start;
        }
        if word.chars().any(char::is_numeric) {
            let number = if word.chars().all(char::is_numeric) { "0" } else { "0x" };
            self.text.replace_range(start.., number);
        }
        self.end(start)
    }

    fn end(&mut self, start: usize) -> usize {
        self.ranges.push(start..self.text.len());
        self.text.len()
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.ranges.iter().map(|range| &self.text[range.clone()])
    }
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
        let check = |sentence: &str, expect: &[&str]| {
            assert_eq!(Tokens::read(sentence).words().collect::<Vec<_>>(), expect, "{sentence}")
        };
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
