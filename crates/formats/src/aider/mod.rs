//! Aider's chat history.

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
