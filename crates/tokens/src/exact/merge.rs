//! Byte-pair merging: the number of tokens of one piece that is not a token itself.
//!
//! From single bytes, the adjacent pair whose concatenation has the lowest rank merges, the leftmost among equals,
//! until no pair is a token. Which pair that is, is found by a scan in short pieces, with a heap in long ones, and in giant
//! ones by keeping the places of each rank in a list of their own.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap};

use super::cache::{self, Key};
use super::layout::NO_RANK;
use super::vocabulary::Vocabulary;

/// The longest piece merged by scanning, in bytes. A scan costs the square of the length, but little for each byte.
const MAX_SCANNED: usize = 128;
/// The longest piece merged with a heap, in bytes: beyond, neither parts nor heap stay near the processor, and every step
/// waits for memory.
const MAX_HEAPED: usize = 1 << 16;
/// The longest piece merged whole, in bytes, so that positions fit 32 bits. Of a longer one this many bytes are merged
/// at a time, and the count may be off by a token or two for each gigabyte.
const MAX_LISTED: usize = 1 << 30;

/// The tokens of `text[start..end]`, which is not empty.
#[inline]
pub(crate) fn count_piece(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    // Every single byte is a token.
    if end - start == 1 || vocabulary.rank(text, start, end).is_some() {
        return 1;
    }
    let piece = &text[start..end];
    match Key::new(vocabulary, text, start, end) {
        Some(key) => cache::get_or_insert(key, || merge(vocabulary, piece)),
        None => merge(vocabulary, piece),
    }
}

#[inline(never)]
fn merge(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    if piece.len() <= MAX_SCANNED {
        merge_by_scan(vocabulary, piece)
    } else if piece.len() <= MAX_HEAPED {
        merge_by_heap(vocabulary, piece)
    } else {
        piece.chunks(MAX_LISTED).map(|chunk| merge_by_lists(vocabulary, chunk)).sum()
    }
}

/// The key of no pair, greater than every other. Keys are signed because the processors that this is built for compare
/// vectors of signed numbers only.
const NO_KEY: i32 = i32::MAX;

/// Cost: O(length²) comparisons of consecutive numbers, O(length) searches; no allocation.
fn merge_by_scan(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    // Ranks have 18 bits and starts 7: keys are positive, and ordered by rank, then start.
    let key = |rank: u32, start: usize| if rank == NO_RANK { NO_KEY } else { (rank << 8 | start as u32) as i32 };

    // By the first byte of each part: the key of the pair of that part and the next, the end of the part, and the start
    // of the part before it. Bytes inside a part have no pair.
    let mut keys = [NO_KEY; MAX_SCANNED];
    let mut ends = [0_u8; MAX_SCANNED];
    let mut befores = [0_u8; MAX_SCANNED];
    let length = piece.len();
    // A whole number of blocks, so that the scan for the least works on whole vectors.
    let keys = &mut keys[..length.next_multiple_of(16).min(MAX_SCANNED)];
    for (start, pair) in piece.windows(2).enumerate() {
        keys[start] = key(vocabulary.pair_rank(pair[0], pair[1]), start);
    }
    for start in 0..length {
        ends[start] = start as u8 + 1;
        befores[start] = (start as u8).wrapping_sub(1);
    }

    let mut n_parts = length;
    loop {
        let least = keys.as_chunks::<16>().0.iter().flatten().copied().min().unwrap_or(NO_KEY);
        if least == NO_KEY {
            return n_parts;
        }
        let start = (least & 0xff) as usize;
        let right = usize::from(ends[start]);
        let end = usize::from(ends[right]);
        n_parts -= 1;
        ends[start] = end as u8;
        keys[right] = NO_KEY;
        keys[start] = if end < length {
            befores[end] = start as u8;
            key(vocabulary.merged_rank(piece, start, usize::from(ends[end])), start)
        } else {
            NO_KEY
        };
        if start > 0 {
            let before = usize::from(befores[start]);
            keys[before] = key(vocabulary.merged_rank(piece, before, end), before);
        }
    }
}

/// A part of a long piece, by its first byte.
#[derive(Clone, Copy)]
struct Part {
    end: u32,
    before: u32,
    /// The rank of the pair of this part and the next, or [`NO_RANK`].
    rank: u32,
}

/// The parts of a long piece, with what both ways of merging it do to them.
struct Parts<'p> {
    vocabulary: &'p Vocabulary,
    piece: &'p [u8],
    parts: Vec<Part>,
    count: usize,
}

impl<'p> Parts<'p> {
    /// Every byte a part of its own.
    fn new(vocabulary: &'p Vocabulary, piece: &'p [u8]) -> Self {
        let length = piece.len() as u32;
        let rank = |start: u32| match piece.get(start as usize..start as usize + 2) {
            Some(pair) => vocabulary.pair_rank(pair[0], pair[1]),
            None => NO_RANK,
        };
        let part = |start: u32| Part { end: start + 1, before: start.saturating_sub(1), rank: rank(start) };
        Self { vocabulary, piece, parts: (0..length).map(part).collect(), count: piece.len() }
    }

    /// The pairs that are tokens, as rank and start, in the order of the piece.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let pairs = self.parts.iter().zip(0..).map(|(part, start)| (part.rank, start));
        pairs.filter(|(rank, _)| *rank != NO_RANK)
    }

    /// Merges the pair at `start`, if its rank still is `rank`. Calls `changed` with the rank and start of each pair that
    /// is new and a token.
    #[inline(always)]
    fn merge(&mut self, rank: u32, start: u32, mut changed: impl FnMut(u32, u32)) {
        let Part { end: right, before, rank: current } = self.parts[start as usize];
        // It is out of date when the pair has since changed or gone.
        if current != rank {
            return;
        }
        let rank_of = |start: u32, end: u32| self.vocabulary.merged_rank(self.piece, start as usize, end as usize);
        let end = self.parts[right as usize].end;
        self.count -= 1;
        self.parts[right as usize].rank = NO_RANK;
        let new = if (end as usize) < self.piece.len() {
            self.parts[end as usize].before = start;
            rank_of(start, self.parts[end as usize].end)
        } else {
            NO_RANK
        };
        self.parts[start as usize] = Part { end, before, rank: new };
        if new != NO_RANK {
            changed(new, start);
        }
        if start > 0 {
            let new = rank_of(before, end);
            self.parts[before as usize].rank = new;
            if new != NO_RANK {
                changed(new, before);
            }
        }
    }
}

/// Cost: O(length · log length), about 20 bytes of memory for each byte of the piece.
fn merge_by_heap(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let entry = |rank: u32, start: u32| Reverse(u64::from(rank) << 32 | u64::from(start));
    let mut parts = Parts::new(vocabulary, piece);
    let mut heap: BinaryHeap<Reverse<u64>> = parts.pairs().map(|(rank, start)| entry(rank, start)).collect();
    while let Some(Reverse(least)) = heap.pop() {
        parts.merge((least >> 32) as u32, least as u32, |rank, start| heap.push(entry(rank, start)));
    }
    parts.count
}

/// Cost: O(length), but for sorting the places of a rank that did not come in order; about 20 bytes of memory for each byte
/// of the piece. The lists are gone through from the lowest rank on, each in the order of the piece, which is the order of
/// the heap: what is merged is longer than what it is merged of, so a new pair has another rank. Should a rank come up that
/// was passed already, the search goes back to it.
fn merge_by_lists(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let mut parts = Parts::new(vocabulary, piece);
    let mut places: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (rank, start) in parts.pairs() {
        places.entry(rank).or_default().push(start);
    }
    while let Some((rank, mut starts)) = places.pop_first() {
        if !starts.is_sorted() {
            starts.sort_unstable();
        }
        let mut left = starts.into_iter();
        let mut least = u32::MAX;
        // Pairs that come in a row mostly have one rank: its list is kept at hand.
        let (mut newest, mut list) = (NO_RANK, Vec::new());
        for start in left.by_ref() {
            parts.merge(rank, start, |new, start| {
                least = least.min(new);
                if new != newest {
                    let other = places.remove(&new).unwrap_or_default();
                    let kept = std::mem::replace(&mut list, other);
                    put(&mut places, newest, kept);
                    newest = new;
                }
                list.push(start);
            });
            if least < rank {
                break;
            }
        }
        put(&mut places, newest, list);
        put(&mut places, rank, left.collect());
    }
    parts.count
}

/// Adds the places of a rank, if there are any. A list that is alone is moved and not copied.
fn put(places: &mut BTreeMap<u32, Vec<u32>>, rank: u32, starts: Vec<u32>) {
    if starts.is_empty() {
        return;
    }
    match places.entry(rank) {
        Entry::Vacant(entry) => {
            entry.insert(starts);
        }
        Entry::Occupied(mut entry) => entry.get_mut().extend(starts),
    }
}

#[cfg(test)]
#[cfg(all(feature = "vocab-cl100k", feature = "vocab-o200k"))]
mod tests {
    use super::super::vocabulary::{CL100K_BASE, O200K_BASE};
    use super::*;

    #[test]
    fn every_way_of_merging_gives_the_same_count() {
        fn check(piece: &[u8]) {
            for vocabulary in [&O200K_BASE, &CL100K_BASE] {
                let by_heap = merge_by_heap(vocabulary, piece);
                assert_eq!(merge_by_lists(vocabulary, piece), by_heap, "{} bytes", piece.len());
                if piece.len() <= MAX_SCANNED {
                    assert_eq!(merge_by_scan(vocabulary, piece), by_heap, "{} bytes", piece.len());
                }
            }
        }
        check(b"aa");
        check(b"antidisestablishmentarianism");
        for length in [3, 100, 127, 128, 1_000, 70_001] {
            check(&b"a".repeat(length));
            check(&b"=-".repeat(length));
            check(" \u{4e2d}\u{6587}\u{1f980}".repeat(length / 8 + 1).as_bytes());
            // Letters without any order, the same in each run.
            let mut state = 1_u32;
            let mut letter = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b'a' + (state >> 24) as u8 % 26
            };
            check(&(0..length).map(|_| letter()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn giant_pieces_are_counted() {
        let count = |length: usize| merge(&O200K_BASE, &b"a".repeat(length));
        let (long, giant) = (count(MAX_HEAPED), count(MAX_HEAPED * 4));
        assert_eq!(long, merge_by_lists(&O200K_BASE, &b"a".repeat(MAX_HEAPED)));
        assert!(giant.abs_diff(long * 4) < 4, "{giant} and {long}");
    }
}
