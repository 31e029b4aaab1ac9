//! OpenHands' events.

mod read;
#[cfg(test)]
mod tests;
mod v1;

pub(crate) use read::{fits, read};
