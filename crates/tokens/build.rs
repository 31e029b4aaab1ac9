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

#[path = "src/exact/tables.rs"]
mod tables;

#[path = "src/exact/class_bits.rs"]
mod class_bits;

/// One more than the last code point.
const N_CODE_POINTS: usize = 0x11_0000;

fn main() -> Result<(), Box<dyn Error>> {
    let output = PathBuf::from(env::var("OUT_DIR")?);
    for encoding in ["o200k_base", "cl100k_base"] {
        write_vocabulary(encoding, &output)?;
    }
    write_classes(&output)?;
    for input in ["build.rs", "data", "src/exact/layout.rs", "src/exact/tables.rs", "src/exact/class_bits.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    Ok(())
}

fn write_vocabulary(encoding: &str, output: &Path) -> Result<(), Box<dyn Error>> {
    let tables = tables::lay_out(&fs::read(format!("data/{encoding}.vocab"))?)?;
    fs::write(output.join(format!("{encoding}.pairs")), tables.pairs.as_flattened())?;
    fs::write(output.join(format!("{encoding}.filter")), tables.filter)?;
    fs::write(output.join(format!("{encoding}.bytes")), tables.bytes)?;
    fs::write(output.join(format!("{encoding}.slots")), tables.slots.as_flattened())?;
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
