//! Copilot CLI's event lines.

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
