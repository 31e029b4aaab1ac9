//! Byte-pair merging: the number of tokens of one piece that is no token itself.
//!
//! From single bytes, the adjacent pair whose concatenation has the lowest rank merges, the leftmost among equals, until
//! no pair is a token. Which pair that is, is found by a scan in short pieces and with a heap in long ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    merge(vocabulary, &text[start..end])
}

#[inline(never)]
fn merge(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    if piece.len() <= MAX_SCANNED {
        merge_by_scan(vocabulary, piece)
    } else {
        piece.chunks(MAX_HEAPED).map(|chunk| merge_by_heap(vocabulary, chunk)).sum()
    }
}

/// No pair: ranks have 18 bits, so that with the start below it every key of a pair is less.
const NO_PAIR: u32 = u32::MAX;

/// Cost: O(length²) comparisons of consecutive numbers, O(length) searches; no allocation.
fn merge_by_scan(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    /// The key of the pair `piece[start..end]`: its rank, then its start.
    fn key(vocabulary: &Vocabulary, piece: &[u8], start: usize, end: usize) -> u32 {
        vocabulary.rank(piece, start, end).map_or(NO_PAIR, |rank| rank << 8 | start as u32)
    }

    // By the first byte of each part: the key of the pair of that part and the next, the end of the part, and the start
    // of the part before it. Bytes inside a part have no pair.
    let mut keys = [NO_PAIR; MAX_SCANNED];
    let mut ends = [0_u8; MAX_SCANNED];
    let mut befores = [0_u8; MAX_SCANNED];
    let length = piece.len();
    let keys = &mut keys[..length];
    for start in 0..length {
        ends[start] = start as u8 + 1;
        befores[start] = (start as u8).wrapping_sub(1);
        if start + 2 <= length {
            keys[start] = key(vocabulary, piece, start, start + 2);
        }
    }

    let mut n_parts = length;
    loop {
        let least = keys.iter().copied().min().unwrap_or(NO_PAIR);
        if least == NO_PAIR {
            return n_parts;
        }
        let start = (least & 0xff) as usize;
        let right = usize::from(ends[start]);
        let end = usize::from(ends[right]);
        n_parts -= 1;
        ends[start] = end as u8;
        keys[right] = NO_PAIR;
        keys[start] = if end < length {
            befores[end] = start as u8;
            key(vocabulary, piece, start, usize::from(ends[end]))
        } else {
            NO_PAIR
        };
        if start > 0 {
            let before = usize::from(befores[start]);
            keys[before] = key(vocabulary, piece, before, end);
        }
    }
}

/// A part of a long piece, by its first byte.
#[derive(Clone, Copy)]
struct Part {
    end: u32,
    before: u32,
    /// The rank of the pair of this part and the next, or [`NO_PAIR`].
    rank: u32,
}

/// Cost: O(length · log length), about 20 bytes of memory for each byte of the piece.
fn merge_by_heap(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let rank = |start: u32, end: u32| vocabulary.rank(piece, start as usize, end as usize).unwrap_or(NO_PAIR);
    let entry = |rank: u32, start: u32| Reverse(u64::from(rank) << 32 | u64::from(start));

    let length = piece.len() as u32;
    let mut parts: Vec<Part> = (0..length)
        .map(|start| Part {
            end: start + 1,
            before: start.saturating_sub(1),
            rank: if start + 2 <= length { rank(start, start + 2) } else { NO_PAIR },
        })
        .collect();
    let mut heap: BinaryHeap<Reverse<u64>> = (0..length)
        .zip(&parts)
        .filter(|(_, part)| part.rank != NO_PAIR)
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
        parts[right as usize].rank = NO_PAIR;
        let new = if end < length {
            parts[end as usize].before = start;
            rank(start, parts[end as usize].end)
        } else {
            NO_PAIR
        };
        parts[start as usize] = Part { end, before, rank: new };
        if new != NO_PAIR {
            heap.push(entry(new, start));
        }
        if start > 0 {
            let new = rank(before, end);
            parts[before as usize].rank = new;
            if new != NO_PAIR {
                heap.push(entry(new, before));
            }
        }
    }
    n_parts
}
