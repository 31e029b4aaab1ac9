//! A small cache of the pieces that had to be merged.
//!
//! Texts repeat their names: remembering the counts of pieces that are not tokens makes counting 1.3 to 1.5 times as
//! fast on code, English and JSON (1.2 on Chinese). Pieces that are tokens are not worth it; their search costs as
//! little.

use std::cell::Cell;

use super::layout;
use super::vocabulary::Vocabulary;

/// The longest piece kept, in bytes.
const MAX_BYTES: usize = 24;
/// The entries' number is two to this power: 64 KB for each thread. Twice as many gain 2 %, half as many lose 6 %.
const INDEX_BITS: u32 = 11;

/// A piece in full: its bytes padded with zeros, then its length and its vocabulary.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    words: [u64; 3],
    length: u8,
    vocabulary: u8,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    n_tokens: u8,
}

thread_local! {
    /// All zeros, which is not a key, so that a thread pays for it no earlier than with its first piece.
    static ENTRIES: [Cell<Entry>; 1 << INDEX_BITS] = const { [const { Cell::new(NO_ENTRY) }; 1 << INDEX_BITS] };
}

const NO_ENTRY: Entry = Entry { key: Key { words: [0; 3], length: 0, vocabulary: 0 }, n_tokens: 0 };

impl Key {
    /// The key of `text[start..end]`, or `None` when it is too long to be kept.
    #[inline]
    pub(crate) fn new(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> Option<Key> {
        let length = end - start;
        let word = |at: usize| if length > at { layout::load(text, start + at, (length - at).min(8)) } else { 0 };
        (length <= MAX_BYTES).then(|| Key {
            words: [word(0), word(8), word(16)],
            length: length as u8,
            vocabulary: vocabulary.id(),
        })
    }

    fn index(&self) -> usize {
        let [first, second, third] = self.words;
        let mixed = first ^ second.rotate_left(23) ^ third.rotate_left(41) ^ u64::from(self.length);
        // Multiplication by 2⁶⁴ over the golden ratio gathers the differences in the upper bits.
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - INDEX_BITS)) as usize
    }
}

/// The tokens of the piece of this key: those kept, or else those that `count` finds, kept in place of an older piece.
#[inline]
pub(crate) fn get_or_insert(key: Key, count: impl Fn() -> usize) -> usize {
    let cached = ENTRIES.try_with(|entries| {
        let cell = &entries[key.index()];
        let entry = cell.get();
        if entry.key == key {
            return usize::from(entry.n_tokens);
        }
        let n_tokens = count();
        // A piece has no more tokens than bytes.
        cell.set(Entry { key, n_tokens: n_tokens as u8 });
        n_tokens
    });
    // While a thread ends its cache may be gone.
    cached.unwrap_or_else(|_| count())
}
