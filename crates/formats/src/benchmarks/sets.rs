//! Shared by sets of recordings: a map from ids to sessions, and turns of two sides.

use epitome_session::{Block, Message, Origin, Role};
use serde_json::Value;

/// One side's turn. The side that the set asks about is the user, the other one is the assistant.
pub(super) fn turn(id: impl Into<std::sync::Arc<str>>, is_user: bool, text: &str) -> Message {
    let (role, origin) = if is_user { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::text(text)] };
    Message::new(id, role, origin, blocks)
}

/// The first value of an object whose first value is an object too: the shape of a file that maps ids to sessions.
pub(super) fn first_entry(map: &Value) -> Option<&Value> {
    map.as_object()?.values().take(8).find(|value| value.is_object())
}
