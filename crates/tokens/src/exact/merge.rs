//! Byte-pair merging: the number of tokens of one piece that is no token itself.
//!
//! From single bytes, the adjacent pair whose concatenation has the lowest rank merges, the leftmost among equals,
//! until no pair is a token. Which pair that is, is found by a scan in short pieces and with a heap in long ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::{self, Key};
use super::layout::NO_RANK;
use super::vocabulary::Vocabulary;

/// The longest piece merged by scanning, in bytes. A scan costs the square of the length, but little for each byte.
const MAX_SCANNED: usize = 128;
/// The longest piece merged whole, in bytes, so that positions fit 32 bits. Of a longer one this many bytes are merged
/// at a time, and the count may be off by a token or two for each gigabyte.
const MAX_HEAPED: usize = 1 << 30;

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
    } else {
        piece.chunks(MAX_HEAPED).map(|chunk| merge_by_heap(vocabulary, chunk)).sum()
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

/// Cost: O(length · log length), about 20 bytes of memory for each byte of the piece.
fn merge_by_heap(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let rank = |start: u32, end: u32| vocabulary.merged_rank(piece, start as usize, end as usize);
    let entry = |rank: u32, start: u32| Reverse(u64::from(rank) << 32 | u64::from(start));

    let length = piece.len() as u32;
    let mut parts: Vec<Part> = (0..length)
        .map(|start| Part {
            end: start + 1,
            before: start.saturating_sub(1),
            rank: if start + 2 <= length { rank(start, start + 2) } else { NO_RANK },
        })
        .collect();
    let mut heap: BinaryHeap<Reverse<u64>> = (0..length)
        .zip(&parts)
        .filter(|(_, part)| part.rank != NO_RANK)
        .map(|(start, part)| entry(part.rank, start))
        .collect();

    let mut n_parts = piece.len();
    while let Some(Reverse(least)) = heap.pop() {
        let (least_rank, start) = ((least >> 32) as u32, least as u32);
        let Part { end: right, before, rank: current } = parts[start as usize];
        // An entry is out of date when its pair has since changed or gone.
        if current != least_rank {
            continue;
        }
        let end = parts[right as usize].end;
        n_parts -= 1;
        parts[right as usize].rank = NO_RANK;
        let new = if end < length {
            parts[end as usize].before = start;
            rank(start, parts[end as usize].end)
        } else {
            NO_RANK
        };
        parts[start as usize] = Part { end, before, rank: new };
        if new != NO_RANK {
            heap.push(entry(new, start));
        }
        if start > 0 {
            let new = rank(before, end);
            parts[before as usize].rank = new;
            if new != NO_RANK {
                heap.push(entry(new, before));
            }
        }
    }
    n_parts
}
