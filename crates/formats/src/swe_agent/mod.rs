//! SWE-agent's trajectories.

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
