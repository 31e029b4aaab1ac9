//! Pi's session files.

mod blocks;
mod kinds;
pub(crate) mod read;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
pub(crate) mod write;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
