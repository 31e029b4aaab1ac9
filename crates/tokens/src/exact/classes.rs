//! The class of the character at a byte position.
//!
//! The table has two stages, written by `build.rs`: `class_index` gives each block of 128 code points its number among
//! the distinct blocks, `class_blocks` holds those blocks.

use super::class_bits::BLOCK;

static INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/class_index"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/class_blocks"));

/// The classes of ASCII; 0 for a byte of a longer character.
static ASCII: [u8; 256] = {
    let mut classes = [0; 256];
    let mut code = 0;
    while code < 128 {
        classes[code] = BLOCKS[INDEX[0] as usize * BLOCK + code];
        code += 1;
    }
    classes
};

/// The class of the character that starts at `at` and its length in bytes; class 0 at the end of the text.
/// `text` is valid UTF-8 and `at` a character boundary.
#[inline]
pub(crate) fn class_at(text: &[u8], at: usize) -> (u8, usize) {
    let Some(&byte) = text.get(at) else {
        return (0, 0);
    };
    match ASCII[usize::from(byte)] {
        0 => long_class_at(text, at, byte),
        class => (class, 1),
    }
}

/// The end of the run of characters of the classes in `set` that starts at `at`.
#[inline]
pub(crate) fn skip(text: &[u8], mut at: usize, set: u8) -> usize {
    while let Some(&byte) = text.get(at) {
        match ASCII[usize::from(byte)] {
            0 => {
                let (class, width) = long_class_at(text, at, byte);
                if class & set == 0 {
                    break;
                }
                at += width;
            }
            class if class & set == 0 => break,
            _ => at += 1,
        }
    }
    at
}

/// [`class_at`] for a character of two to four bytes that starts with `lead`.
fn long_class_at(text: &[u8], at: usize, lead: u8) -> (u8, usize) {
    let low_bits = |offset: usize| usize::from(text.get(at + offset).copied().unwrap_or_default() & 0x3f);
    let lead = usize::from(lead);
    let (code, width) = match lead {
        0xf0.. => ((lead & 0x07) << 18 | low_bits(1) << 12 | low_bits(2) << 6 | low_bits(3), 4),
        0xe0.. => ((lead & 0x0f) << 12 | low_bits(1) << 6 | low_bits(2), 3),
        _ => ((lead & 0x1f) << 6 | low_bits(1), 2),
    };
    (class_of(code), width)
}

#[inline]
fn class_of(code: usize) -> u8 {
    let block = INDEX.get(code / BLOCK).copied().unwrap_or_default();
    BLOCKS[usize::from(block) * BLOCK + code % BLOCK]
}

#[cfg(test)]
#[cfg(all(feature = "vocab-cl100k", feature = "vocab-o200k"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use regex::Regex;

    use super::super::class_bits::*;
    use super::*;

    #[test]
    fn every_character_has_the_class_of_the_regex_crate() {
        let sets = [
            (r"[\p{Lu}\p{Lt}]", UPPER),
            (r"\p{Ll}", LOWER),
            (r"[\p{Lm}\p{Lo}]", CASELESS),
            (r"\p{M}", MARK),
            (r"\p{N}", NUMBER),
            (r"[\s&&[^\r\n]]", SPACE),
            (r"[\r\n]", NEWLINE),
            (r"[^\s\p{L}\p{M}\p{N}]", OTHER),
        ];
        let all: String = ('\0'..=char::MAX).collect();
        let mut n_seen = 0;
        for (pattern, class) in sets {
            for found in Regex::new(pattern).unwrap().find_iter(&all) {
                assert_eq!(class_at(all.as_bytes(), found.start()), (class, found.len()), "{:?}", found.as_str());
                n_seen += 1;
            }
        }
        assert_eq!(n_seen, all.chars().count());
    }
}
