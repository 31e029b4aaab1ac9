//! Hashed features: exact names, rare words, and the words of scripts that the table does not know.

use crate::pieces::parts_of_name;

/// The numbers of a vector's lexical share. Two features share a number once in this many pairs, half of the time with
/// opposite signs.
pub(crate) const DIMENSIONS: usize = 128;

/// An exact name: a path, an error code, an id, a name in code.
const NAME: f32 = 3.0;
/// A part of a path, or a part of a name that has digits.
const PART: f32 = 2.0;
/// A word of a script without rows.
const WORD: f32 = 1.0;
/// A few letters of such a word: its endings differ.
const LETTERS: f32 = 0.4;
/// Two Han characters that follow each other.
const HAN_PAIR: f32 = 0.5;

/// Sums up features.
#[derive(Debug)]
pub(crate) struct LexicalFeatures<'a> {
    sum: &'a mut [f32],
    lower: String,
}

impl<'a> LexicalFeatures<'a> {
    /// Adds to `sum`, which has [`DIMENSIONS`] numbers.
    pub(crate) fn new(sum: &'a mut [f32]) -> Self {
        Self { sum, lower: String::new() }
    }

    fn put(&mut self, kind: u8, feature: &str, weight: f32) {
        // FNV-1a over the kind and the feature, mixed so that the lowest bits depend on all of it.
        let mut hash = (0xcbf2_9ce4_8422_2325 ^ u64::from(kind)).wrapping_mul(0x100_0000_01b3_u64);
        for byte in feature.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (hash >> 57) as usize % DIMENSIONS;
        self.sum[at] += if hash >> 56 & 1 == 0 { weight } else { -weight };
    }

    /// A run of ASCII letters, digits and `_ . / : -` between them, where it is a name and not a plain word: with digits,
    /// underscores, slashes, an inner dot or inner capitals.
    pub(crate) fn run(&mut self, run: &str) {
        if !is_name(run) {
            return;
        }
        let run = run.trim_end_matches(['.', ':', '/', '-']);
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        lower.push_str(run);
        lower.make_ascii_lowercase();
        self.put(b'n', &lower, if lower.len() < 3 { LETTERS } else { NAME });
        let is_part = |part: &&str| part.len() >= 3 && part.len() < lower.len();
        for part in lower.split(['/', ':']).filter(is_part) {
            self.put(b'n', part, PART);
        }
        let has_digits = |part: &&str| part.bytes().any(|byte| byte.is_ascii_digit());
        for part in lower.split(['/', ':', '.', '-', '_']).filter(is_part).filter(has_digits) {
            self.put(b'n', part, PART);
        }
        self.lower = lower;
    }

    /// Adds a lower-case Latin word, with its rarity `weight`: 1 for the rarest.
    pub(crate) fn latin_word(&mut self, word: &str, weight: f32) {
        if word.len() >= 3 {
            self.put(b'w', word, weight);
        }
    }

    /// A run of Han characters.
    pub(crate) fn han(&mut self, run: &str) {
        self.windows(b'h', run, 2, HAN_PAIR);
    }

    /// A word in an alphabet without rows.
    pub(crate) fn word(&mut self, word: &str) {
        let word = word.to_lowercase();
        self.put(b'w', &word, WORD);
        self.windows(b'3', &word, 3, LETTERS);
    }

    /// A run in a script that writes syllables, or no spaces.
    pub(crate) fn syllables(&mut self, run: &str) {
        self.windows(b'2', run, 2, WORD);
    }

    /// Calls back with every `size` neighbouring characters; with the whole run where it is no longer.
    fn windows(&mut self, kind: u8, run: &str, size: usize, weight: f32) {
        let ends = run.char_indices().map(|(at, _)| at).skip(size).chain([run.len()]);
        for (start, end) in run.char_indices().map(|(at, _)| at).zip(ends) {
            self.put(kind, &run[start..end], weight);
        }
    }
}

/// Whether a run of ASCII names something exactly.
fn is_name(run: &str) -> bool {
    let inner = run.trim_end_matches(['.', ':', '/', '-']);
    inner.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'/' | b'.'))
        || inner.bytes().all(|byte| byte.is_ascii_alphabetic()) && has_inner_capitals(inner)
}

fn has_inner_capitals(word: &str) -> bool {
    let mut parts = parts_of_name(word);
    parts.next().is_some() && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        let names = ["src/lib.rs", "E0382", "max_len", "OrderBook", "v1.2", "10.0.0.1", "parse2"];
        let words = ["word", "Word", "ALL", "end.", "well-known", "Note:"];
        assert!(names.iter().all(|name| is_name(name)));
        for word in words {
            assert!(!is_name(word), "{word}");
        }
    }

    #[test]
    fn what_two_runs_share() {
        let sum = |run: &str| {
            let mut sum = vec![0.0; DIMENSIONS];
            LexicalFeatures::new(&mut sum).run(run);
            sum
        };
        let near = |left: &str, right: &str| {
            let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(l, r)| l * r).sum::<f32>();
            let (left, right) = (sum(left), sum(right));
            dot(&left, &right) / (dot(&left, &left) * dot(&right, &right)).sqrt()
        };
        assert!(near("src/clock/zone.rs", "SRC/clock/zone.rs:") > 0.999, "case and a colon behind it do not matter");
        assert!(near("src/clock/zone.rs", "zone.rs") > 0.3, "a file is found by its name");
        assert!(near("src/clock/zone.rs", "src/parser/tree.rs") < 0.4);
        assert!(near("E0382", "E0502").abs() < 0.01);
    }

    #[test]
    fn pairs() {
        let n_features = |run: &str| {
            let mut sum = vec![0.0; DIMENSIONS];
            LexicalFeatures::new(&mut sum).syllables(run);
            sum.iter().map(|number| number.abs()).sum::<f32>()
        };
        assert!(n_features("かきくけ") <= 3.0 && n_features("かきくけ") >= 1.0);
        assert!(n_features("か") == 1.0);
        assert!(n_features("") == 0.0);
    }
}
