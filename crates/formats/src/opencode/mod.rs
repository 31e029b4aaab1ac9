//! OpenCode's exports.

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
