//! Claude Code's session files.

pub(crate) mod read;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod write;

pub(crate) use read::{fits, read};
