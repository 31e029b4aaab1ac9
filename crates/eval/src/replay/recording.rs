//! A recorded session prepared for replays.

use epitome::session::{Content, EpochOrigin, Message, Origin, Session};
use epitome::strategy::TokenCounter;

use crate::cases::cut::{COUNTER, tokens_of};

/// A recorded session that is read and counted once for all policies.
#[derive(Debug)]
pub struct Recording<'a> {
    pub(crate) session: &'a Session,
    /// The log, reasoning left out.
    pub(crate) messages: Vec<Message>,
    /// Tokens of each message.
    pub(crate) tokens: Vec<u64>,
    /// Tokens of the tool definitions, which precede every request.
    pub(crate) tools: u64,
    /// Tokens of the messages of the conversation itself.
    pub(crate) total: u64,
}

impl<'a> Recording<'a> {
    /// Counts every message of the log once. Reasoning is left out.
    pub fn new(session: &'a Session) -> Self {
        let messages: Vec<Message> = session.log().iter().map(|message| without_reasoning(message)).collect();
        let count = |message: &Message| if is_empty(message) { 0 } else { u64::from(tokens_of(message)) };
        let tokens: Vec<u64> = messages.iter().map(count).collect();
        let total =
            messages.iter().zip(&tokens).filter(|(message, _)| is_said(message)).map(|(_, tokens)| tokens).sum();
        let tools = session.tools.as_deref().map_or(0, |tools| u64::from((&COUNTER as &dyn TokenCounter).count(tools)));
        Self { session, messages, tokens, tools, total }
    }

    /// Compactions that the recording holds.
    pub(crate) fn compactions(&self) -> usize {
        self.session.journal().iter().filter(|epoch| !epoch.undone && epoch.origin == EpochOrigin::Recorded).count()
    }
}

fn without_reasoning(message: &Message) -> Message {
    let mut plain = Message { records: Vec::new(), ..message.clone() };
    for block in plain.blocks.iter_mut().filter(|block| matches!(block.content, Content::Thinking(_))) {
        (block.content, block.raw) = (Content::Gone, None);
    }
    plain
}

/// Whether a message is empty after what was taken out of it.
pub(crate) fn is_empty(message: &Message) -> bool {
    message.blocks.iter().all(|block| matches!(block.content, Content::Gone))
}

/// Whether a message belongs to the conversation itself, and not to a compaction of it.
pub(crate) fn is_said(message: &Message) -> bool {
    !matches!(message.origin, Origin::Summary | Origin::Notice | Origin::Answer) && !is_empty(message)
}
