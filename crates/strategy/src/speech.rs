//! Attributes the parts of a text: what a person typed, what a person said through a tool, and the sentences that
//! demand something.

mod binding;
mod demands;
mod questions;
mod sentences;
mod spoken;

use std::ops::Range;

use epitome_session::{Content, Message, harness};

pub use binding::binding;
pub use demands::{Demand, demands};
pub use questions::asks;
pub use sentences::sentences;
pub use spoken::spoken_through_tool;

/// Returns the byte ranges of a text block of a typed message that a person typed, ascending; a harness's additions
/// (reminders, templates of commands, notices of tools) are left out. Empty where a person typed nothing of it. Linear.
pub fn typed_ranges(message: &Message, block: usize) -> Vec<Range<usize>> {
    match message.blocks.get(block).map(|block| &block.content) {
        Some(Content::Text { text }) if message.is_typed() => harness::typed_ranges(text),
        _ => Vec::new(),
    }
}

/// Returns the number of each text block of a message with the ranges of it that a person typed, without blocks that
/// have none. Linear.
pub fn typed_texts(message: &Message) -> impl Iterator<Item = (usize, &str, Vec<Range<usize>>)> {
    let texts = message.blocks.iter().enumerate().filter_map(|(block, content)| match &content.content {
        Content::Text { text } => Some((block, text.as_ref(), typed_ranges(message, block))),
        _ => None,
    });
    texts.filter(|(_, _, ranges)| !ranges.is_empty())
}

#[cfg(test)]
mod tests;
