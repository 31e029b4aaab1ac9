//! Finds tokens in text without keeping them.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

/// The prime 2^61 - 1: remainders of products by it are cheap, and two texts have the same sum once in 2^61.
const PRIME: u64 = (1 << 61) - 1;

/// The sums of tokens, by the tokens' lengths: a text is looked through in one pass for each length. The sums are made with a
/// number that the process draws, and say no more of a token than its digest does.
#[derive(Clone)]
pub(super) struct TokenScanner {
    base: u64,
    sums: BTreeMap<usize, HashSet<u64>>,
}

impl Default for TokenScanner {
    fn default() -> Self {
        // Seeded by the system.
        let drawn = RandomState::new().hash_one("the base of the sums");
        Self { base: (1 << 32) + drawn % (PRIME - (1 << 33)), sums: BTreeMap::new() }
    }
}

impl TokenScanner {
    /// Takes note of a token.
    pub(super) fn add(&mut self, token: &[u8]) {
        let sum = token.iter().fold(0, |sum, byte| self.push(sum, *byte));
        self.sums.entry(token.len()).or_default().insert(sum);
    }

    /// Whether a part of `text` is a token, by its sum and by `is_token`. Linear in the text for each length of tokens.
    pub(super) fn finds(&self, text: &[u8], is_token: impl Fn(&[u8]) -> bool) -> bool {
        self.sums.iter().any(|(length, sums)| {
            // What a byte counts when it leaves the part.
            let leaving = (0..*length).fold(1, |power, _| multiply(power, self.base));
            let mut sum = 0;
            text.iter().enumerate().any(|(at, byte)| {
                sum = self.push(sum, *byte);
                if let Some(gone) = at.checked_sub(*length).and_then(|gone| text.get(gone)) {
                    let gone = multiply(leaving, u64::from(*gone) + 1);
                    sum = (sum + PRIME - gone) % PRIME;
                }
                at + 1 >= *length && sums.contains(&sum) && is_token(&text[at + 1 - length..=at])
            })
        })
    }

    fn push(&self, sum: u64, byte: u8) -> u64 {
        (multiply(sum, self.base) + u64::from(byte) + 1) % PRIME
    }
}

fn multiply(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) % u128::from(PRIME)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_within_text() {
        let mut scanner = TokenScanner::default();
        let tokens: [&[u8]; 3] = [b"open-sesame-one-two", b"open-sesame-two-two", b"a-longer-token-of-another"];
        tokens.iter().for_each(|token| scanner.add(token));
        let check = |text: &str, expect: bool| {
            assert_eq!(scanner.finds(text.as_bytes(), |part| tokens.contains(&part)), expect, "{text}");
        };
        check("open-sesame-one-two", true);
        check("Bearer open-sesame-two-two; more", true);
        check("xxa-longer-token-of-another", true);
        check("open-sesame-one-twO", false);
        check("open-sesame-one-tw", false);
        check("", false);
        assert!(!scanner.finds(tokens[0], |_| false), "a sum alone is no proof");
    }
}
