//! Gemini CLI's chats.

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{fits, read};
