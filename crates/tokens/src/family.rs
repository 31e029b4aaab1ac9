//! Families of models whose vocabulary is not public, or not in this program: how their counts differ from `o200k_base`.

use std::sync::Arc;

use epitome_strategy::session::Media;
use epitome_strategy::{MediaRates, TokenCounter, Tokens};

/// What a family of models spends on a text, as weights of what is counted in it: the tokens of `o200k_base` and the
/// characters of a kind. Which kinds differ is what tells prose, code, figures and scripts apart: English is mostly small
/// letters, code has capitals and punctuation.
///
/// Units: tokens for one of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    /// For a token of `o200k_base`.
    pub(crate) token: f64,
    /// For a small Latin letter without a mark.
    pub(crate) small: f64,
    /// For a capital.
    pub(crate) capital: f64,
    /// For a digit.
    pub(crate) digit: f64,
    /// For an ASCII punctuation character.
    pub(crate) punctuation: f64,
    /// For a character of a script that is not Latin, symbols left out.
    pub(crate) other_script: f64,
}

/// The weights of a vocabulary that counts as `o200k_base` does.
pub(crate) const ALIKE: Weights =
    Weights { token: 1.0, small: 0.0, capital: 0.0, digit: 0.0, punctuation: 0.0, other_script: 0.0 };

/// Counts as a family of models does, near enough.
///
/// Cost: that of `o200k_base`, and one pass over the bytes. Rounds up, so an empty text alone counts nothing.
#[derive(Debug, Clone)]
pub struct FamilyCounter {
    pub(crate) name: &'static str,
    pub(crate) base: Arc<dyn TokenCounter>,
    pub(crate) weights: Weights,
    pub(crate) media: MediaRates,
    pub(crate) margin: f64,
}

impl TokenCounter for FamilyCounter {
    /// Returns the family's name, such as `claude-4.7`.
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> Tokens {
        if self.weights == ALIKE {
            return self.base.count(text);
        }
        let Weights { token, small, capital, digit, punctuation, other_script } = self.weights;
        let kinds = Kinds::count(text);
        let tokens = token * f64::from(self.base.count(text))
            + small * kinds.small as f64
            + capital * kinds.capital as f64
            + digit * kinds.digit as f64
            + punctuation * kinds.punctuation as f64
            + other_script * kinds.other_script as f64;
        // A float above the largest number becomes it.
        tokens.ceil() as Tokens
    }

    fn media_tokens(&self, media: &Media) -> Tokens {
        self.media.tokens(media)
    }

    fn is_exact(&self) -> bool {
        self.weights == ALIKE && self.base.is_exact()
    }

    fn margin(&self) -> f64 {
        self.margin
    }
}

/// How many characters of a text are of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Kinds {
    small: usize,
    capital: usize,
    digit: usize,
    punctuation: usize,
    other_script: usize,
}

/// The bits of a lane of [`LANES`], and the most bytes that a lane can count.
const LANE: u32 = 16;
const MOST_BYTES: usize = (1 << LANE) - 1;

/// For each byte a one in the lane of its kind: small letters in the lowest, then capitals, digits and punctuation. Sums of these
/// count all kinds with one addition for a byte.
const LANES: [u64; 256] = {
    let mut lanes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        lanes[byte] = (ascii.is_ascii_lowercase() as u64)
            | (ascii.is_ascii_uppercase() as u64) << LANE
            | (ascii.is_ascii_digit() as u64) << (2 * LANE)
            | (ascii.is_ascii_punctuation() as u64) << (3 * LANE);
        byte += 1;
    }
    lanes
};

impl Kinds {
    fn count(text: &str) -> Self {
        let mut kinds = Self::default();
        for chunk in text.as_bytes().chunks(MOST_BYTES) {
            let sums = chunk.iter().map(|byte| LANES[usize::from(*byte)]).sum::<u64>();
            let lane = |number: u32| (sums >> (number * LANE)) as usize & MOST_BYTES;
            kinds.small += lane(0);
            kinds.capital += lane(1);
            kinds.digit += lane(2);
            kinds.punctuation += lane(3);
        }
        if !text.is_ascii() {
            kinds.other_script = text.chars().filter(|character| is_other_script(*character)).count();
        }
        kinds
    }
}

/// Greek and what follows it, without the blocks of punctuation and symbols.
fn is_other_script(character: char) -> bool {
    matches!(character, '\u{370}'..='\u{1fff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{fdff}' | '\u{fe70}'..='\u{1efff}' | '\u{20000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Bytes;

    impl TokenCounter for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }

        fn count(&self, text: &str) -> Tokens {
            text.len() as Tokens
        }

        fn is_exact(&self) -> bool {
            true
        }
    }

    #[test]
    fn each_kind_has_its_weight() {
        let unit = Weights {
            token: 0.0,
            small: 1.0,
            capital: 10.0,
            digit: 100.0,
            punctuation: 1_000.0,
            other_script: 10_000.0,
        };
        let counter = FamilyCounter {
            name: "test",
            base: Arc::new(Bytes),
            weights: unit,
            media: MediaRates::default(),
            margin: 0.0,
        };
        let check = |text: &str, expect: Tokens| assert_eq!(counter.count(text), expect, "{text}");
        check(&"aB1.".repeat(20_000), 1_111 * 20_000);
        check("", 0);
        check(" \n\t", 0);
        check("aZ09.", 1 + 10 + 200 + 1_000);
        check("é — ✓ ä", 0);
        check("这是ну한 z", 5 * 10_000 + 1);
        assert!(!counter.is_exact() && FamilyCounter { weights: ALIKE, ..counter.clone() }.is_exact());
        let twice = FamilyCounter { weights: Weights { token: 2.0, ..ALIKE }, ..counter };
        assert_eq!(twice.count("four"), 8);
    }
}
