//! The table in the program: pieces, their probabilities, and a row of small numbers for each.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// Made by `tools/distill`, which also describes the layout.
static BYTES: &[u8] = include_bytes!("../data/static-v1.table");

/// Rows of Latin and of Han pieces.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) latin: Block,
    pub(crate) han: Block,
    /// The characters of the longest Han piece.
    pub(crate) longest_han: usize,
}

/// The pieces of one script.
#[derive(Debug)]
pub(crate) struct Block {
    dimensions: usize,
    texts: Vec<&'static str>,
    index: HashMap<&'static str, u32, BuildHasherDefault<PieceHasher>>,
    scores: Vec<f32>,
    scales: Vec<f32>,
    rows: &'static [u8],
}

impl Table {
    /// Returns the table that is compiled in, laid out at the first call in milliseconds. It is never `None` with the
    /// file in the repository: a test reads that file.
    pub(crate) fn shipped() -> Option<&'static Self> {
        static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| Table::read(BYTES));
        TABLE.as_ref()
    }

    fn read(bytes: &'static [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"EPITOME1")?;
        let dimensions = take_number(&mut rest)?;
        let latin = Block::read(dimensions, &mut rest)?;
        let han = Block::read(dimensions, &mut rest)?;
        let longest_han = han.texts.iter().map(|text| text.chars().count()).max()?;
        rest.is_empty().then_some(Self { latin, han, longest_han })
    }

    /// Returns the numbers of a row.
    pub(crate) fn dimensions(&self) -> usize {
        self.latin.dimensions
    }
}

impl Block {
    fn read(dimensions: usize, rest: &mut &'static [u8]) -> Option<Self> {
        let n_pieces = take_number(rest)?;
        let n_bytes = take_number(rest)?;
        let lengths = take(rest, n_pieces)?;
        let mut text = std::str::from_utf8(take(rest, n_bytes)?).ok()?;
        let mut texts = Vec::with_capacity(n_pieces);
        let mut index = HashMap::with_capacity_and_hasher(n_pieces, BuildHasherDefault::default());
        for (piece, length) in (0..).zip(lengths) {
            let (piece_text, behind) = text.split_at_checked(usize::from(*length))?;
            texts.push(piece_text);
            index.insert(piece_text, piece);
            text = behind;
        }
        let scores = floats(take(rest, 4 * n_pieces)?);
        let scales = floats(take(rest, 4 * n_pieces)?);
        let rows = take(rest, n_pieces * dimensions)?;
        Some(Self { dimensions, texts, index, scores, scales, rows })
    }

    /// Returns the piece with the spelling `text`.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.index.get(text).copied()
    }

    /// Returns the spelling of a piece.
    #[cfg(test)]
    pub(crate) fn text(&self, piece: u32) -> &'static str {
        self.texts[piece as usize]
    }

    /// Returns the natural logarithm of a piece's frequency.
    pub(crate) fn score(&self, piece: u32) -> f32 {
        self.scores[piece as usize]
    }

    /// Adds the row of `piece` to `sum`.
    pub(crate) fn add_row(&self, piece: u32, sum: &mut [f32]) {
        let piece = piece as usize;
        let scale = self.scales[piece];
        let row = &self.rows[piece * self.dimensions..(piece + 1) * self.dimensions];
        for (sum, number) in sum.iter_mut().zip(row) {
            *sum += f32::from(number.cast_signed()) * scale;
        }
    }
}

fn take(rest: &mut &'static [u8], n_bytes: usize) -> Option<&'static [u8]> {
    let (taken, behind) = rest.split_at_checked(n_bytes)?;
    *rest = behind;
    Some(taken)
}

fn take_number(rest: &mut &'static [u8]) -> Option<usize> {
    let number = u32::from_le_bytes(*take(rest, 4)?.first_chunk()?);
    usize::try_from(number).ok()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
}

/// FNV-1a: the pieces are short and fixed, so they need no protection against chosen collisions.
#[derive(Debug)]
pub(crate) struct PieceHasher(u64);

impl Default for PieceHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for PieceHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        // The upper bits index the table, and FNV hardly mixes these.
        self.0 ^ self.0.rotate_right(29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_shipped_table_is_whole() {
        let table = Table::shipped().unwrap();
        assert_eq!(table.dimensions(), 128);
        assert!(table.latin.texts.len() > 20_000 && table.han.texts.len() > 10_000);
        assert_eq!(table.latin.texts.len(), table.latin.index.len(), "no piece twice");
        assert!(table.latin.texts.iter().all(|text| text.is_ascii()));
    }

    #[test]
    fn a_damaged_table_is_no_table() {
        let check = |bytes: Vec<u8>| assert!(Table::read(Vec::leak(bytes)).is_none());
        check(Vec::new());
        check(b"EPITOME1".to_vec());
        check(BYTES[..1000].to_vec());
        check([BYTES, b"more"].concat());
        check([b"EPITOME2", &BYTES[8..]].concat());
    }
}
