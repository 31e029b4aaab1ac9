//! Copilot CLI's event lines.

mod kinds;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
