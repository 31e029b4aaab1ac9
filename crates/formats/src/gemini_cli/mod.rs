//! Gemini CLI's chats.

mod kinds;
mod read;
pub(crate) mod saved;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, read};
