//! Gemini's contents.

pub(crate) mod blocks;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod validate;
pub(crate) mod write;

pub(crate) use read::{fits, read};

/// The field of the system prompt as Python clients spell it; Google takes both spellings of every field.
pub(crate) const SYSTEM_IN_SNAKE_CASE: &str = "system_instruction";
