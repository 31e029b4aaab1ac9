//! OpenCode's exports.

mod parts;
mod read;
mod summaries;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
