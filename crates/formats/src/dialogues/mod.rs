//! Sets of dialogues. Each dialogue is a session; what was measured on it (questions, goals, states) is left out.

use epitome_session::{Block, Message, Origin, Role};

use crate::reader::FormatReader;

mod crosswoz;
mod kdconv;
mod locomo;
mod longmemeval;
mod madial;
mod memorybank;

/// The readers, in the order in which they are tried.
pub(crate) const READERS: &[FormatReader] =
    &[locomo::READER, longmemeval::READER, memorybank::READER, madial::READER, crosswoz::READER, kdconv::READER];

/// One side's turn. The side that the set asks about is the user, the other one stands in the assistant's place.
fn turn(id: impl Into<std::sync::Arc<str>>, is_user: bool, text: &str) -> Message {
    let (role, origin) = if is_user { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::text(text)] };
    Message::new(id, role, origin, blocks)
}

#[cfg(test)]
mod tests;
