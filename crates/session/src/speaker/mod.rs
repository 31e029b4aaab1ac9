//! Who speaks: settled once, when a message enters a session, and carried by its blocks from there on.
//!
//! A message has one author ([`Origin`]), but two kinds of text hold the words of more than one: a harness adds reminders to
//! what a person typed, and a person answers and refuses through the results of tools. [`Block::typed`] says which parts of
//! such a text are the person's. A reader that knows more than the text (an agent's file has fields for it) sets that itself;
//! for the rest it is settled here, by the exact forms of named agents.

mod answers;
mod harness;
mod instructions;

use std::ops::Range;

use crate::block::{Block, Content, ToolResult};
use crate::message::{Message, Origin, Role};
use crate::text_range::TextRange;

pub use answers::{RejectionForm, spoken_range};
pub use harness::typed_parts;
pub use instructions::{rules_folder, rules_names};

/// How far a text is trusted. What is said at one level cannot speak for a higher one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// What a tool printed: anybody may have written it.
    Tool,
    /// The model's own words, and what was made of them.
    Model,
    /// The agent program around the model.
    Harness,
    /// A person.
    Typed,
    /// A developer's instructions.
    Developer,
    /// The system prompt.
    System,
}

impl Origin {
    /// Returns how far text of this origin is trusted, where [`Block::typed`] does not say more.
    pub fn level(self) -> Level {
        match self {
            Self::Instructions | Self::Configuration => Level::System,
            Self::Developer => Level::Developer,
            Self::Typed => Level::Typed,
            Self::Injected | Self::Notice | Self::Answer => Level::Harness,
            Self::Model | Self::Summary => Level::Model,
            Self::Tool | Self::ToolOutput => Level::Tool,
        }
    }
}

/// Returns the byte ranges of a block's text that a person said, ascending: what was typed in a text block of a typed message,
/// and what was said through a tool in its result. Empty for all others. Constant time, but for a text that is typed whole.
pub fn typed_ranges(message: &Message, block: usize) -> Vec<Range<usize>> {
    let Some(block) = message.blocks.get(block) else { return Vec::new() };
    let (text, is_typed_whole) = match &block.content {
        Content::Text { text } => (text, message.is_typed()),
        Content::ToolResult(result) => (&result.text, false),
        Content::Thinking(_) | Content::ToolCall(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {
            return Vec::new();
        }
    };
    match &block.typed {
        // Ranges that were stored may not fit a text that was not.
        Some(ranges) => {
            ranges.iter().map(|range| (*range).into()).filter(|it| text.get(Range::clone(it)).is_some()).collect()
        }
        None if is_typed_whole => trimmed(text).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns the range of a text without white space around it; `None` where there is nothing else.
fn trimmed(text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().len();
    let length = text.trim().len();
    (length > 0).then_some(start..start + length)
}

/// Settles which parts of a message a person said, and which the host loaded as instructions, where its reader has not: the
/// name of the tool that a result is of comes from `tool_of`, and nobody speaks through a tool that is not known. Linear in the
/// texts of the user's side and of tools.
pub(crate) fn attribute<'t>(message: &mut Message, tool_of: impl Fn(&ToolResult) -> Option<&'t str>) {
    attribute_results_in_text(message);
    let is_typed = message.is_typed();
    let is_injected = message.role == Role::User && message.origin == Origin::Injected;
    for Block { content, typed, instructions, .. } in &mut message.blocks {
        match content {
            Content::Text { text } if is_typed || is_injected => {
                let parts = harness::parts(text);
                let is_said = |range: &Range<usize>| {
                    let mut said = typed.iter().flatten().map(|typed| Range::from(*typed));
                    said.any(|said: Range<usize>| said.start < range.end && range.start < said.end)
                };
                if instructions.is_empty() {
                    let loaded = parts.instructions.into_iter().filter(|range| !is_said(range));
                    *instructions = loaded.map(TextRange::from).collect();
                }
                if is_typed && typed.is_none() && parts.typed.first() != trimmed(text).as_ref() {
                    *typed = Some(parts.typed.into_iter().map(TextRange::from).collect());
                }
            }
            Content::ToolResult(result) => {
                let tool = tool_of(result);
                if typed.is_none() {
                    let range = tool.and_then(|tool| spoken_range(tool, &result.text, result.is_error));
                    *typed = range.map(|range| vec![range.into()]);
                }
                if instructions.is_empty() && !result.is_error {
                    let range = instructions::instructions_in_result(tool, &result.text);
                    *instructions = range.map(TextRange::from).into_iter().collect();
                }
            }
            Content::Text { .. } | Content::Thinking(_) | Content::ToolCall(_) | Content::Media(_) => {}
            Content::Opaque(_) | Content::Gone => {}
        }
    }
}

/// Settles whose words a message is that holds results as texts: from the text on that begins one, all is the tool's but what a
/// person said through it.
fn attribute_results_in_text(message: &mut Message) {
    if message.role != Role::User || !matches!(message.origin, Origin::Typed | Origin::Injected) {
        return;
    }
    let mut tool: Option<(String, usize)> = None;
    for Block { content, typed, .. } in &mut message.blocks {
        let Content::Text { text } = content else { continue };
        let start = match answers::result_in_text(text) {
            Some((name, start)) => {
                tool = Some((name.to_owned(), 0));
                start
            }
            None => 0,
        };
        let Some((tool, number)) = &mut tool else { continue };
        let said =
            answers::said_in_text(tool, &text[start..], *number).map(|said| start + said.start..start + said.end);
        *number += 1;
        typed.get_or_insert_with(|| said.into_iter().map(TextRange::from).collect());
    }
    if tool.is_none() {
        return;
    }
    // What stands in front of them is whose it was.
    for Block { content, typed, .. } in message.blocks.iter_mut().filter(|_| message.origin == Origin::Typed) {
        if let Content::Text { text } = content {
            typed.get_or_insert_with(|| harness::typed_parts(text).into_iter().map(TextRange::from).collect());
        }
    }
    message.origin = Origin::ToolOutput;
}

#[cfg(test)]
mod tests;
