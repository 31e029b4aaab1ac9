//! OpenAI's Responses, whose items Codex records too.

pub(crate) mod blocks;
mod continued;
pub(crate) mod group;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod validate;
pub(crate) mod write;

pub(crate) use read::{fits, read};
