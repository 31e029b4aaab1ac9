//! Cline SDK's sessions.

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
