//! OpenAI's chat completions.

pub(crate) mod blocks;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod validate;
pub(crate) mod write;

pub(crate) use read::{fits, read};
