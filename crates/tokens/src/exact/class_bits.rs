//! The classes of characters that the pre-tokenizers tell apart, as bits, so that a set of classes is a mask.
//!
//! `build.rs` includes this file to write the table that `classes.rs` reads.

/// `\p{Lu}` and `\p{Lt}`: letters that only start a word.
pub(crate) const UPPER: u8 = 1;
/// `\p{Ll}`: letters that only continue a word.
pub(crate) const LOWER: u8 = 1 << 1;
/// `\p{Lm}` and `\p{Lo}`: letters without case, which do both.
pub(crate) const CASELESS: u8 = 1 << 2;
/// `\p{M}`: combining marks.
pub(crate) const MARK: u8 = 1 << 3;
/// `\p{N}`.
pub(crate) const NUMBER: u8 = 1 << 4;
/// `\s` but carriage return and line feed.
pub(crate) const SPACE: u8 = 1 << 5;
/// Carriage return and line feed.
pub(crate) const NEWLINE: u8 = 1 << 6;
/// Every other character.
pub(crate) const OTHER: u8 = 1 << 7;

/// Code points in a block of the class table.
pub(crate) const BLOCK: usize = 128;
