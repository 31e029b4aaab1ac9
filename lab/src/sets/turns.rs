//! What the sets share: JSON fields read leniently, turns of two sides, and lists of sessions.

use std::sync::Arc;

use epitome::session::{Block, Message, Origin, Role, Session};
use serde_json::Value;

/// A session of a file with its name there: an id where there is one, else its number from 0.
pub(super) type Named = (String, Session);

/// A session without messages yet; without an id where that is empty.
pub(super) fn session(id: &str) -> Session {
    let mut session = Session::new();
    session.id = (!id.is_empty()).then(|| Arc::from(id));
    session
}

/// Appends a message; one without any block is left out.
pub(super) fn push(session: &mut Session, message: Message) {
    if !message.blocks.is_empty() {
        session.push(message);
    }
}

/// One side's turn. The side that the set asks about is the user, the other one is the assistant.
pub(super) fn turn(id: impl Into<Arc<str>>, is_user: bool, text: &str) -> Message {
    let (role, origin) = if is_user { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::text(text)] };
    Message::new(id, role, origin, blocks)
}

/// The elements of a list, or the only one of a file that is not a list.
pub(super) fn list(document: &Value) -> &[Value] {
    document.as_array().map_or(std::slice::from_ref(document), Vec::as_slice)
}

/// The elements of a list; none where the value is not a list.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The first object among a list's first elements: what recognition looks at.
pub(super) fn first_object(list: &Value) -> Option<&Value> {
    items(list).iter().take(8).find(|item| item.is_object())
}

/// The first object among the first values of an object: the shape of a file that maps ids to sessions.
pub(super) fn first_entry(map: &Value) -> Option<&Value> {
    map.as_object()?.values().take(8).find(|value| value.is_object())
}

/// The text that a value is; empty where it is something else.
pub(super) fn str_of(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// An id as text: a string, or a number written out.
pub(super) fn id(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A value as a model would read it: text as it is, nothing for `null`, everything else as compact JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The time of a text such as `2026-01-31T10:20:30Z`, or of a date alone; one without a zone is taken as UTC.
pub(super) fn time(text: &str) -> Option<i64> {
    use jiff::civil::DateTime;
    let instant = text.parse::<jiff::Timestamp>().ok();
    instant.map(jiff::Timestamp::as_millisecond).or_else(|| in_utc(text.parse::<DateTime>().ok()?))
}

/// The milliseconds since 1970-01-01 of a clock and a date in UTC.
pub(super) fn in_utc(time: jiff::civil::DateTime) -> Option<i64> {
    jiff::tz::TimeZone::UTC.to_timestamp(time).ok().map(jiff::Timestamp::as_millisecond)
}
