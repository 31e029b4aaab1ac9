//! Regenerates the committed files of `data/`.
//!
//! Run from the repository root: `cargo run --release -p epitome-tokens --example generate`.
//! The vocabularies come out of `tiktoken-rs`, the character classes out of `regex` (both development
//! dependencies), so the data follows the versions pinned in the lock file. `data/README.md` has the formats.

#![allow(clippy::print_stdout, reason = "a command-line tool")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use regex::Regex;
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

/// The letters of the classes in `unicode_classes.txt`, each with the pattern of its members.
const CLASSES: [(char, &str); 7] = [
    ('U', r"^[\p{Lu}\p{Lt}]$"),
    ('L', r"^\p{Ll}$"),
    ('B', r"^[\p{Lm}\p{Lo}]$"),
    ('M', r"^\p{M}$"),
    ('N', r"^\p{N}$"),
    ('R', r"^[\r\n]$"),
    ('S', r"^\s$"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for (name, encoding, n_tokens) in [("o200k_base", o200k_base()?, 199_998), ("cl100k_base", cl100k_base()?, 100_256)]
    {
        write(&data.join(name).with_extension("vocab"), &vocabulary(&encoding, n_tokens)?)?;
    }
    write(&data.join("unicode_classes.txt"), unicode_classes()?.as_bytes())
}

/// The tokens in the order of their ranks, each as one length byte followed by its bytes.
fn vocabulary(encoding: &CoreBPE, n_tokens: u32) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut packed = Vec::new();
    for rank in 0..n_tokens {
        let token = encoding.decode_bytes(&[rank])?;
        packed.push(u8::try_from(token.len())?);
        packed.extend(token);
    }
    Ok(packed)
}

/// One line for each run of code points of one class: first and last in hexadecimal, then the class.
/// Code points of no class are left out.
fn unicode_classes() -> Result<String, Box<dyn Error>> {
    let patterns = CLASSES
        .iter()
        .map(|&(class, pattern)| Ok((class, Regex::new(pattern)?)))
        .collect::<Result<Vec<_>, regex::Error>>()?;
    let mut runs: Vec<(u32, u32, char)> = Vec::new();
    let mut buffer = [0; 4];
    for character in '\0'..=char::MAX {
        let text = character.encode_utf8(&mut buffer);
        let Some(&(class, _)) = patterns.iter().find(|(_, pattern)| pattern.is_match(text)) else {
            continue;
        };
        let code = u32::from(character);
        match runs.last_mut() {
            Some((_, last, of)) if *of == class && *last + 1 == code => *last = code,
            _ => runs.push((code, code, class)),
        }
    }
    let mut lines = String::new();
    for (first, last, class) in runs {
        writeln!(lines, "{first:x} {last:x} {class}")?;
    }
    Ok(lines)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    fs::write(path, bytes)?;
    println!("{}: {} bytes", path.display(), bytes.len());
    Ok(())
}
