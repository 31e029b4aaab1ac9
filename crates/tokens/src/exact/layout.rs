//! The packed vocabulary table: how a token is hashed, and the bits of a slot.
//!
//! `build.rs` includes this file to write the tables that the crate reads (`tables.rs`), so both sides agree by construction.
//!
//! A vocabulary is four arrays. The *bytes* of all tokens in rank order, followed by [`PADDING`] zeros. *Slots* of 64
//! bits, probed upwards from the [`first_slot`] of the token's hash to the first [`EMPTY`] one:
//!
//! | bits | field |
//! |---|---|
//! | 0–17 | rank |
//! | 18–24 | length in bytes − 1 |
//! | 25–42 | fingerprint: the low 18 bits of the hash |
//! | 43–63 | offset in the bytes |
//!
//! A *filter* with one bit set for each token, which tells most byte strings that are not tokens from those that may be
//! one. And the ranks of the *pairs* of bytes that are tokens, by pair. All numbers are little-endian.

/// The longest token a slot can hold, in bytes. Both vocabularies reach it, with runs of spaces.
pub(crate) const MAX_TOKEN_BYTES: usize = 128;
/// A slot without a token: a rank that no vocabulary has.
pub(crate) const EMPTY: u64 = u64::MAX;
/// A pair of bytes that is not a token, in the table of pairs.
pub(crate) const NO_RANK: u32 = u32::MAX;
/// Zeros behind the last token, so that eight bytes can be read at each token's start.
#[allow(dead_code, reason = "used where tables are made")]
pub(crate) const PADDING: usize = 8;

const RANK_BITS: u32 = 18;
const LENGTH_BITS: u32 = 7;
const FINGERPRINT_BITS: u32 = 18;
const OFFSET_SHIFT: u32 = RANK_BITS + LENGTH_BITS + FINGERPRINT_BITS;

/// The slot of the token of `rank`, or `None` when a field does not fit.
#[allow(dead_code, reason = "used where tables are made")]
pub(crate) fn pack(rank: u32, offset: usize, length: usize, hash: u64) -> Option<u64> {
    let fits = rank >> RANK_BITS == 0
        && (offset as u64) >> (u64::BITS - OFFSET_SHIFT) == 0
        && (1..=MAX_TOKEN_BYTES).contains(&length);
    fits.then(|| u64::from(rank) | tag(length, hash) << RANK_BITS | (offset as u64) << OFFSET_SHIFT)
}

/// The length and fingerprint of a slot, as [`slot_tag`] reads them back: differs for most different tokens.
#[inline]
pub(crate) fn tag(length: usize, hash: u64) -> u64 {
    (length as u64 - 1) | (hash & ((1 << FINGERPRINT_BITS) - 1)) << LENGTH_BITS
}

/// The [`tag`] of a packed slot.
#[inline]
pub(crate) fn slot_tag(slot: u64) -> u64 {
    slot >> RANK_BITS & ((1 << (LENGTH_BITS + FINGERPRINT_BITS)) - 1)
}

/// The rank of a packed slot.
#[inline]
pub(crate) fn slot_rank(slot: u64) -> u32 {
    (slot & ((1 << RANK_BITS) - 1)) as u32
}

/// The offset of a packed slot's token in the bytes.
#[inline]
pub(crate) fn slot_offset(slot: u64) -> usize {
    (slot >> OFFSET_SHIFT) as usize
}

/// The bits of the filter for each token: at 10, one string in ten that is not a token passes.
#[allow(dead_code, reason = "used where tables are made")]
pub(crate) const FILTER_BITS_PER_TOKEN: usize = 10;

/// The byte of a filter of `n_bytes`, and the mask in it, that stand for tokens of this hash.
#[inline]
pub(crate) fn filter_bit(hash: u64, n_bytes: usize) -> (usize, u8) {
    let bit = first_slot(hash, 8 * n_bytes);
    (bit / 8, 1 << (bit % 8))
}

/// The slot to probe first, of `n_slots`: the hash's upper half scaled, so that any number of slots works.
#[inline]
pub(crate) fn first_slot(hash: u64, n_slots: usize) -> usize {
    ((hash >> 32).wrapping_mul(n_slots as u64) >> 32) as usize
}

/// The `length` (1 to 8) bytes of `bytes` from `start` as a little-endian number.
/// Fast when eight bytes are readable there, which all but the end of a text fulfils.
#[inline]
pub(crate) fn load(bytes: &[u8], start: usize, length: usize) -> u64 {
    let tail = bytes.get(start..).unwrap_or_default();
    let word = tail.first_chunk().map_or_else(|| load_short(tail), |eight| u64::from_le_bytes(*eight));
    word & u64::MAX >> (u64::BITS - 8 * length as u32)
}

#[cold]
fn load_short(tail: &[u8]) -> u64 {
    tail.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The hash of a token of up to 8 bytes, from its [`load`]ed word.
#[inline]
pub(crate) fn hash_one(length: usize, word: u64) -> u64 {
    fold(word ^ SEEDS[0], SEEDS[1] ^ length as u64)
}

/// The hash of a token of 9 to 16 bytes, from its first eight bytes and the rest.
#[inline]
pub(crate) fn hash_two(length: usize, first: u64, second: u64) -> u64 {
    fold(hash_one(length, first) ^ second, SEEDS[2])
}

/// The hash of a token of more than 16 bytes.
pub(crate) fn hash_many(token: &[u8]) -> u64 {
    let mut hash = token.len() as u64;
    for chunk in token.chunks(8) {
        hash = fold(hash ^ load(chunk, 0, chunk.len()) ^ SEEDS[0], SEEDS[2]);
    }
    hash
}

/// The hash of a token of any length, equal to those above.
#[allow(dead_code, reason = "used where tables are made")]
pub(crate) fn hash(token: &[u8]) -> u64 {
    match token.len() {
        length @ 0..=8 => hash_one(length, load(token, 0, length.max(1))),
        length @ 9..=16 => hash_two(length, load(token, 0, 8), load(token, 8, length - 8)),
        _ => hash_many(token),
    }
}

/// Odd numbers without structure: the fractional parts of the square roots of 2, 3 and 5.
const SEEDS: [u64; 3] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];

/// Multiplies to 128 bits and folds the halves together: every input bit reaches every output bit.
#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}
