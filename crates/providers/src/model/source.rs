//! The input of a summary: the messages as a view, and the earlier summaries among them.

use std::sync::Arc;

use epitome_strategy::session::Heading;
use epitome_strategy::{Content, Message, Origin, SummaryTask, Tokens, View};

/// An earlier summary among the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EarlierSummary {
    /// The number of the other messages in front of it.
    pub before: usize,
    /// The summary's text, without the engine's heading.
    pub text: String,
}

/// The summaries among the messages, in order. Empty ones are left out.
pub(super) fn earlier(task: &SummaryTask<'_>) -> Vec<EarlierSummary> {
    let mut found = Vec::new();
    let mut before = 0;
    for message in task.messages {
        match message.origin {
            Origin::Summary => {
                let text = Heading::body_of(&message.plain_text()).to_owned();
                if !text.is_empty() {
                    found.push(EarlierSummary { before, text });
                }
            }
            Origin::Notice => {}
            _ => before += 1,
        }
    }
    found
}

/// Calls `read` with a view of the messages that are neither summaries nor notices. Linear in the messages.
pub(super) fn with_view<R>(task: &SummaryTask<'_>, read: impl FnOnce(&View<'_>) -> R) -> R {
    with_messages(task.messages.iter(), task, read)
}

/// The same with other messages of the session.
pub(super) fn with_messages<'m, R>(
    messages: impl Iterator<Item = &'m Arc<Message>>,
    task: &SummaryTask<'_>,
    read: impl FnOnce(&View<'_>) -> R,
) -> R {
    let is_original = |message: &&Arc<Message>| !matches!(message.origin, Origin::Summary | Origin::Notice);
    View::read_messages(messages.filter(is_original), task.counter, task.language, read)
}

/// The length of the messages that the summary replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Characters of texts, calls and results.
    pub chars: usize,
    /// Tokens of it by the task's counter.
    pub tokens: Tokens,
}

/// The size of the messages. Linear in them.
pub(super) fn size(task: &SummaryTask<'_>) -> Size {
    let mut size = Size { chars: 0, tokens: 0 };
    for block in task.messages.iter().flat_map(|message| &message.blocks) {
        let text: &str = match &block.content {
            Content::Text { text } => text,
            Content::ToolCall(call) => call.arguments.text(),
            Content::ToolResult(result) => &result.text,
            Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => continue,
        };
        size.chars += text.chars().count();
        size.tokens = size.tokens.saturating_add(task.counter.count(text));
    }
    size
}
