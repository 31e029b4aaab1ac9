//! Claude Code's session files.

pub(crate) mod attached;
#[cfg(test)]
mod attached_tests;
mod boundary;
mod copies;
mod kinds;
mod queue;
#[cfg(test)]
mod queue_tests;
pub(crate) mod read;
mod replaced;
mod spoken;
mod stubs;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
#[cfg(test)]
mod tree_tests;
mod worded;
pub(crate) mod write;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
