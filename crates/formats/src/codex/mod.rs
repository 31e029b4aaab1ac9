//! Codex's rollout files.

pub(crate) mod inherited_rollouts;
#[cfg(test)]
mod inherited_rollouts_tests;
mod kinds;
mod missing_history;
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
