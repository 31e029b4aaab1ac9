//! Claude Code's session files.

mod kinds;
mod queue;
#[cfg(test)]
mod queue_tests;
pub(crate) mod read;
mod replaced;
mod spoken;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
#[cfg(test)]
mod tree_tests;
pub(crate) mod write;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
