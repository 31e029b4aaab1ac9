//! Lays a packed vocabulary out as the tables of [`layout`].
//!
//! `build.rs` includes this file, so that tables in the program's image and tables that are made at the first count are the
//! same.

use super::layout::{self, EMPTY, NO_RANK, PADDING};

/// Slots for two tokens. With 3, a search that fails probes about 4 slots, all in a cache line or two; with 4 it is
/// faster by a few per cent, for a table larger by a third.
const SLOTS_PER_TWO_TOKENS: usize = 3;

/// The tables of a vocabulary, as [`layout`] describes them.
#[derive(Default)]
pub(crate) struct Tables {
    pub slots: Vec<[u8; 8]>,
    pub bytes: Vec<u8>,
    pub filter: Vec<u8>,
    pub pairs: Vec<[u8; 4]>,
}

/// The tables of the tokens in `packed`, in the order of their ranks: each is a byte that says its length, and its bytes.
/// Linear: some milliseconds for 200,000 tokens.
pub(crate) fn lay_out(packed: &[u8]) -> Result<Tables, &'static str> {
    let mut tokens = Vec::new();
    let mut rest = packed;
    while let Some((&length, after)) = rest.split_first() {
        let (token, after) = after.split_at_checked(length.into()).ok_or("the vocabulary is cut short")?;
        tokens.push(token);
        rest = after;
    }

    let mut bytes = Vec::with_capacity(packed.len());
    let mut filter = vec![0; (layout::FILTER_BITS_PER_TOKEN * tokens.len()).div_ceil(8)];
    let mut pairs = vec![NO_RANK.to_le_bytes(); 1 << 16];
    let empty = EMPTY.to_le_bytes();
    let mut slots = vec![empty; SLOTS_PER_TWO_TOKENS * tokens.len() / 2];
    for (rank, token) in (0_u32..).zip(&tokens) {
        let hash = layout::hash(token);
        let slot = layout::pack(rank, bytes.len(), token.len(), hash).ok_or("a token does not fit a slot")?;
        let mut at = layout::first_slot(hash, slots.len());
        while slots[at] != empty {
            at = (at + 1) % slots.len();
        }
        slots[at] = slot.to_le_bytes();
        bytes.extend_from_slice(token);
        let (byte, mask) = layout::filter_bit(hash, filter.len());
        filter[byte] |= mask;
        if let &[first, second] = *token {
            pairs[usize::from(u16::from_le_bytes([first, second]))] = rank.to_le_bytes();
        }
    }
    bytes.resize(bytes.len() + PADDING, 0);
    Ok(Tables { slots, bytes, filter, pairs })
}
