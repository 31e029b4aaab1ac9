//! Gemini CLI's chats.

mod read;
mod saved;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
