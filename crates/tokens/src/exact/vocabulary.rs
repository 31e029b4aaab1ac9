//! A vocabulary: from the bytes of a token to its rank, in place in the program's image or in tables made at the first use.

#[cfg(feature = "packed-vocabularies")]
use std::sync::LazyLock;

use super::layout::{self, EMPTY, MAX_TOKEN_BYTES, NO_RANK};

/// The tokens of one encoding.
#[derive(Clone, Copy)]
pub(crate) struct Vocabulary {
    id: u8,
    slots: &'static [[u8; 8]],
    bytes: &'static [u8],
    filter: &'static [u8],
    pairs: &'static [[u8; 4]],
}

/// Gives a table the alignment of a cache line, so that no slot straddles two.
#[cfg(not(feature = "packed-vocabularies"))]
#[repr(align(64))]
struct CacheAligned<T>(T);

/// A vocabulary in the program's image. Construction does nothing: pages of the tables are read as they are first touched.
#[cfg(not(feature = "packed-vocabularies"))]
macro_rules! vocabulary {
    ($id:literal, $encoding:literal) => {{
        static SLOTS: &[u8] = &CacheAligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $encoding, ".slots"))).0;
        static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $encoding, ".bytes"));
        static PAIRS: &[u8] = &CacheAligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $encoding, ".pairs"))).0;
        static FILTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $encoding, ".filter"));
        Vocabulary { id: $id, slots: SLOTS.as_chunks().0, bytes: BYTES, filter: FILTER, pairs: PAIRS.as_chunks().0 }
    }};
}

/// A vocabulary whose tables are made when it is first used.
#[cfg(feature = "packed-vocabularies")]
macro_rules! vocabulary {
    ($id:literal, $encoding:literal) => {
        LazyLock::new(|| {
            Vocabulary::of_packed(
                $id,
                include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/", $encoding, ".vocab")),
            )
        })
    };
}

#[cfg(not(feature = "packed-vocabularies"))]
type Kept = Vocabulary;
#[cfg(feature = "packed-vocabularies")]
type Kept = LazyLock<Vocabulary>;

/// The vocabulary of `o200k_base`: 199,998 tokens.
#[cfg(feature = "vocab-o200k")]
pub(crate) static O200K_BASE: Kept = vocabulary!(1, "o200k_base");
/// The vocabulary of `cl100k_base`: 100,256 tokens.
#[cfg(feature = "vocab-cl100k")]
pub(crate) static CL100K_BASE: Kept = vocabulary!(2, "cl100k_base");

impl Vocabulary {
    /// The vocabulary of these packed tokens. Its tables live as long as the program.
    #[cfg(feature = "packed-vocabularies")]
    fn of_packed(id: u8, packed: &[u8]) -> Self {
        // Bytes that cannot be laid out do not get here: build.rs lays out the same ones.
        let tables = super::tables::lay_out(packed).unwrap_or_default();
        Self {
            id,
            slots: tables.slots.leak(),
            bytes: tables.bytes.leak(),
            filter: tables.filter.leak(),
            pairs: tables.pairs.leak(),
        }
    }

    /// A number that tells the vocabularies apart; not 0.
    #[inline]
    pub(crate) fn id(&self) -> u8 {
        self.id
    }

    /// The rank of the token that `text[start..end]` is, or `None` when it is not a token. `start < end`.
    #[inline]
    pub(crate) fn rank(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        self.find::<false>(text, start, end)
    }

    /// [`rank`](Self::rank), or [`NO_RANK`], faster where there mostly is none: asks the filter first, which is small
    /// enough to stay near the processor.
    #[inline]
    pub(crate) fn merged_rank(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.find::<true>(text, start, end).unwrap_or(NO_RANK)
    }

    /// The rank of the token of two bytes `[first, second]`, or [`NO_RANK`].
    #[inline]
    pub(crate) fn pair_rank(&self, first: u8, second: u8) -> u32 {
        let pair = u16::from_le_bytes([first, second]);
        self.pairs.get(usize::from(pair)).map_or(NO_RANK, |rank| u32::from_le_bytes(*rank))
    }

    #[inline(always)]
    fn find<const FILTERED: bool>(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let length = end - start;
        match length {
            1..=8 => {
                let word = layout::load(text, start, length);
                let hash = layout::hash_one(length, word);
                self.probe::<FILTERED>(hash, length, |offset| layout::load(self.bytes, offset, length) == word)
            }
            9..=16 => {
                let words = [layout::load(text, start, 8), layout::load(text, start + 8, length - 8)];
                let hash = layout::hash_two(length, words[0], words[1]);
                self.probe::<FILTERED>(hash, length, |offset| {
                    layout::load(self.bytes, offset, 8) == words[0]
                        && layout::load(self.bytes, offset + 8, length - 8) == words[1]
                })
            }
            17..=MAX_TOKEN_BYTES => {
                let token = text.get(start..end)?;
                let hash = layout::hash_many(token);
                self.probe::<FILTERED>(hash, length, |offset| self.bytes.get(offset..offset + length) == Some(token))
            }
            _ => None,
        }
    }

    /// Searches the slots for a token of this hash and length whose bytes, from the offset given to it, `is_equal`.
    #[inline(always)]
    fn probe<const FILTERED: bool>(&self, hash: u64, length: usize, is_equal: impl Fn(usize) -> bool) -> Option<u32> {
        if FILTERED {
            let (byte, mask) = layout::filter_bit(hash, self.filter.len());
            if self.filter.get(byte)? & mask == 0 {
                return None;
            }
        }
        let tag = layout::tag(length, hash);
        let mut at = layout::first_slot(hash, self.slots.len());
        loop {
            let slot = u64::from_le_bytes(*self.slots.get(at)?);
            if slot == EMPTY {
                return None;
            }
            if layout::slot_tag(slot) == tag && is_equal(layout::slot_offset(slot)) {
                return Some(layout::slot_rank(slot));
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }
}

#[cfg(test)]
#[cfg(all(feature = "vocab-cl100k", feature = "vocab-o200k"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

    use super::*;

    fn check(vocabulary: &Vocabulary, reference: &CoreBPE, n_tokens: u32) {
        for rank in 0..n_tokens {
            let token = reference.decode_bytes(&[rank]).unwrap();
            assert_eq!(vocabulary.rank(&token, 0, token.len()), Some(rank), "{token:?}");
            let longer = [&token[..], b"\xff\xfe"].concat();
            assert_eq!(vocabulary.rank(&longer, 0, longer.len()), None, "{longer:?}");
            assert_eq!(vocabulary.merged_rank(&longer, 0, token.len()), rank, "{token:?}");
            if let [first, second] = token[..] {
                assert_eq!(vocabulary.pair_rank(first, second), rank, "{token:?}");
            }
        }
    }

    #[test]
    fn each_token_has_the_rank_of_the_reference() {
        check(&O200K_BASE, &o200k_base().unwrap(), 199_998);
        check(&CL100K_BASE, &cl100k_base().unwrap(), 100_256);
    }
}
