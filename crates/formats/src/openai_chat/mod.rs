//! OpenAI's chat completions.

pub(crate) mod blocks;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod validate;
pub(crate) mod write;

pub use blocks::function_calls;
pub(crate) use read::{fits, read};
