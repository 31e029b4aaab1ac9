//! Qwen Code's chats.

mod kinds;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use kinds::KINDS;
pub(crate) use read::{fits, is_record, read};
