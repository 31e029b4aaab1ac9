//! Lays out the committed vocabularies and character classes as tables that the crate uses in place.
//!
//! Reads `data/`, writes `<encoding>.bytes`, `<encoding>.slots`, `class_index` and `class_blocks` to the output folder.
//! The formats are described in `src/exact/layout.rs` and `src/exact/classes.rs`.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[allow(dead_code, reason = "the crate uses the reading half")]
#[path = "src/exact/layout.rs"]
mod layout;

#[path = "src/exact/class_bits.rs"]
mod class_bits;

/// Slots for two tokens. With 3, a search that fails probes about 4 slots, all in a cache line or two; with 4 it is
/// faster by a few per cent, for a table larger by a third.
const SLOTS_PER_TWO_TOKENS: usize = 3;
/// One more than the last code point.
const N_CODE_POINTS: usize = 0x11_0000;

fn main() -> Result<(), Box<dyn Error>> {
    let output = PathBuf::from(env::var("OUT_DIR")?);
    for encoding in ["o200k_base", "cl100k_base"] {
        write_vocabulary(encoding, &output)?;
    }
    write_classes(&output)?;
    for input in ["build.rs", "data", "src/exact/layout.rs", "src/exact/class_bits.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    Ok(())
}

fn write_vocabulary(encoding: &str, output: &Path) -> Result<(), Box<dyn Error>> {
    let packed = fs::read(format!("data/{encoding}.vocab"))?;
    let mut tokens = Vec::new();
    let mut rest = packed.as_slice();
    while let Some((&length, after)) = rest.split_first() {
        let (token, after) = after.split_at_checked(length.into()).ok_or("the vocabulary is cut short")?;
        tokens.push(token);
        rest = after;
    }

    let mut bytes = Vec::with_capacity(packed.len());
    let mut filter = vec![0; (layout::FILTER_BITS_PER_TOKEN * tokens.len()).div_ceil(8)];
    let mut pairs = vec![layout::NO_RANK; 1 << 16];
    let mut slots = vec![layout::EMPTY; SLOTS_PER_TWO_TOKENS * tokens.len() / 2];
    for (rank, token) in tokens.iter().enumerate() {
        let hash = layout::hash(token);
        let slot =
            layout::pack(u32::try_from(rank)?, bytes.len(), token.len(), hash).ok_or("a token does not fit a slot")?;
        let mut at = layout::first_slot(hash, slots.len());
        while slots[at] != layout::EMPTY {
            at = (at + 1) % slots.len();
        }
        slots[at] = slot;
        bytes.extend_from_slice(token);
        let (byte, mask) = layout::filter_bit(hash, filter.len());
        filter[byte] |= mask;
        if let &[first, second] = *token {
            pairs[usize::from(u16::from_le_bytes([first, second]))] = u32::try_from(rank)?;
        }
    }
    bytes.resize(bytes.len() + layout::PADDING, 0);

    let slots: Vec<u8> = slots.iter().flat_map(|slot| slot.to_le_bytes()).collect();
    let pairs: Vec<u8> = pairs.iter().flat_map(|rank| rank.to_le_bytes()).collect();
    fs::write(output.join(format!("{encoding}.pairs")), pairs)?;
    fs::write(output.join(format!("{encoding}.filter")), filter)?;
    fs::write(output.join(format!("{encoding}.bytes")), bytes)?;
    fs::write(output.join(format!("{encoding}.slots")), slots)?;
    Ok(())
}

fn write_classes(output: &Path) -> Result<(), Box<dyn Error>> {
    let mut classes = vec![class_bits::OTHER; N_CODE_POINTS];
    for line in fs::read_to_string("data/unicode_classes.txt")?.lines() {
        let [first, last, letter] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("`{line}` is not a run of code points").into());
        };
        let class = class_of_letter(letter).ok_or_else(|| format!("`{letter}` is not a class"))?;
        classes[usize::from_str_radix(first, 16)?..=usize::from_str_radix(last, 16)?].fill(class);
    }

    let mut blocks = Vec::new();
    let mut known: HashMap<&[u8], u8> = HashMap::new();
    let mut index = Vec::new();
    for block in classes.chunks(class_bits::BLOCK) {
        let next = u8::try_from(known.len())?;
        let number = *known.entry(block).or_insert_with(|| {
            blocks.extend_from_slice(block);
            next
        });
        index.push(number);
    }
    fs::write(output.join("class_index"), index)?;
    fs::write(output.join("class_blocks"), blocks)?;
    Ok(())
}

/// The class written as `letter` in `data/unicode_classes.txt`.
fn class_of_letter(letter: &str) -> Option<u8> {
    Some(match letter {
        "U" => class_bits::UPPER,
        "L" => class_bits::LOWER,
        "B" => class_bits::CASELESS,
        "M" => class_bits::MARK,
        "N" => class_bits::NUMBER,
        "S" => class_bits::SPACE,
        "R" => class_bits::NEWLINE,
        _ => return None,
    })
}
