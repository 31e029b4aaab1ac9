//! An embedder with predictable vectors: texts are near when they share words.

use epitome_strategy::text::is_cjk;
use epitome_strategy::{EmbedError, Embedder, Embeddings, async_trait};

/// Numbers in a vector.
const DIMENSIONS: usize = 256;

/// Embeds words of three letters or more and pairs of Chinese characters, each hashed to one of 256 dimensions; unit
/// length, all zeros for a text without any. Needs no model and no table, and gives the same vectors everywhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeEmbedder;

impl FakeEmbedder {
    /// Returns the vector of one text. Linear in the text.
    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0f32; DIMENSIONS];
        let mut add = |term: &str| {
            let hash = hash(term);
            // Half of the terms count negative: texts that share nothing come out near 0, not above it.
            vector[hash as usize % DIMENSIONS] += if hash >> 63 == 0 { 1.0 } else { -1.0 };
        };
        for word in text.to_lowercase().split(|char: char| !char.is_alphanumeric()) {
            let cjk: Vec<char> = word.chars().filter(|char| is_cjk(*char)).collect();
            for pair in cjk.windows(2) {
                add(&String::from_iter(pair));
            }
            if cjk.is_empty() && word.chars().count() >= 3 {
                add(word);
            }
        }
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
        vector
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn name(&self) -> &str {
        "fake-words"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let values = texts.iter().flat_map(|text| Self::vector(text)).collect();
        Ok(Embeddings::new(DIMENSIONS, values))
    }
}

/// FNV-1a, with its bits mixed so that the lowest ones depend on all.
fn hash(term: &str) -> u64 {
    let hash = term
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    (hash ^ (hash >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_near() {
        let near =
            |left: &str, right: &str| Embeddings::similarity(&FakeEmbedder::vector(left), &FakeEmbedder::vector(right));
        assert!((near("The parser loops", "the PARSER loops, so") - 1.0).abs() < 1e-6);
        assert!(near("fix the parser", "the parser loops") > near("fix the parser", "book a flight"));
        assert!(near("修复解析器的问题", "解析器死循环") > near("修复解析器的问题", "预订机票"));
        assert_eq!(near("", "anything"), 0.0);
    }
}
