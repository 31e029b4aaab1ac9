//! Codex's rollout files.

mod kinds;
pub(crate) mod read;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod write;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
