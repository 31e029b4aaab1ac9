//! What a session did, put together from its structure: what was asked for and what came of it, commands and what mended
//! them, commits, and records that services gave.

mod checks;
mod conclusion;
mod lasting;
mod names;
mod place_names;
mod places;
mod records;
mod request;
mod rounds;
mod steps;

use std::sync::Arc;

use epitome_session::Message;

use super::{LONGEST_MEMORY, Worth};

/// A memory that was put together: the position of the message that it ends with, the text, what it is and is worth.
pub(super) type ComposedMemory = (usize, String, Worth);

/// What a session did, in no order. Linear in the messages.
pub(super) fn compose(messages: &[Arc<Message>]) -> Vec<ComposedMemory> {
    let steps = steps::steps(messages);
    let names = names::Names::of(&steps);
    let mut told = rounds::compose(messages, &steps, &names);
    told.extend(checks::compose(&steps, &names));
    told.extend(lasting::compose(messages, &steps));
    told.extend(records::compose(&steps));
    told.extend(places::compose(messages));
    told.retain(|(_, text, _)| text.chars().count() <= LONGEST_MEMORY);
    told
}

#[cfg(test)]
mod tests;
