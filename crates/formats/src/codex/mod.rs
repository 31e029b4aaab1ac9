//! Codex's rollout files.

pub(crate) mod along;
#[cfg(test)]
mod along_tests;
mod elsewhere;
mod kinds;
mod prefix;
pub(crate) mod read;
mod replaced;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
#[cfg(test)]
mod turns_tests;
pub(crate) mod write;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
