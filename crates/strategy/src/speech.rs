//! Attributes the parts of a text: what a person typed, what a person said through a tool, and the sentences that
//! demand something.

mod binding;
mod demands;
mod questions;
mod sentences;

use std::ops::Range;

use epitome_session::{Content, Message};

pub use binding::binding;
pub use demands::{Demand, demands, refers_back};
pub use epitome_session::speaker::typed_ranges;
pub use questions::asks;
pub use sentences::sentences;

/// Returns the number of each text block of a message with the ranges of it that a person typed, without blocks that
/// have none. Linear.
pub fn typed_texts(message: &Message) -> impl Iterator<Item = (usize, &str, Vec<Range<usize>>)> {
    texts(message, |content| match content {
        Content::Text { text } => Some(text),
        _ => None,
    })
}

/// Returns the number of each tool's result in a message with the ranges of it that a person said through the tool: an answer to
/// the agent's question, the reason of a refusal. Results without such ranges are left out. Linear.
pub fn spoken_texts(message: &Message) -> impl Iterator<Item = (usize, &str, Vec<Range<usize>>)> {
    texts(message, |content| match content {
        Content::ToolResult(result) => Some(&result.text),
        _ => None,
    })
}

fn texts<'m>(
    message: &'m Message,
    text_of: impl Fn(&'m Content) -> Option<&'m std::sync::Arc<str>>,
) -> impl Iterator<Item = (usize, &'m str, Vec<Range<usize>>)> {
    let blocks = message.blocks.iter().enumerate();
    blocks
        .filter_map(move |(index, block)| Some((index, &**text_of(&block.content)?, typed_ranges(message, index))))
        .filter(|(_, _, ranges)| !ranges.is_empty())
}

#[cfg(test)]
mod tests;
