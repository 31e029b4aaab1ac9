//! The work of a session, put together from its structure: requests and their outcomes, commands and their repairs,
//! commits, and records from services.

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

/// The memories of a session's work, in no order. Linear in the messages.
pub(super) fn compose(messages: &[Arc<Message>]) -> Vec<ComposedMemory> {
    let steps = steps::steps(messages);
    let names = names::Names::from_steps(&steps);
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
