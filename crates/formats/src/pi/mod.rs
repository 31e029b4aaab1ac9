//! Pi's session files.

mod blocks;
pub(crate) mod read;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
pub(crate) mod write;

pub(crate) use read::{fits, read};
