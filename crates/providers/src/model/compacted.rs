//! A run of a session as a conversation that its provider compacts.

use std::sync::Arc;

use epitome_formats::{Wire, render};
use epitome_strategy::secrets::redact;
use epitome_strategy::session::Position;
use epitome_strategy::{Block, Content, Entry, EntryKey, Message, SummaryTask, Tokens, async_trait};
use serde_json::{Map, Value};

use super::source;
use crate::chat::{ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest, Compaction, CompactionRequest};

/// The messages of one summary for the compaction: the compacting model reads them whole, and the `user` text of a
/// request says what the summary must hold.
#[derive(Debug)]
pub(super) struct CompactionConversation {
    compaction: Arc<dyn Compaction>,
    /// The conversation, or the reason why there is none.
    conversation: Result<Map<String, Value>, String>,
    tokens: Tokens,
    identity: String,
}

impl CompactionConversation {
    /// Renders the messages of `task` with the system prompt and the tools of their session, without secrets where it
    /// `redacts`. Linear in them.
    pub(super) fn new(compaction: &Arc<dyn Compaction>, task: &SummaryTask<'_>, redacts: bool) -> Self {
        let mut json = render_task(task);
        if redacts {
            json = redact(&json).into_owned();
        }
        let identity = format!("{} {}", compaction.identity(), blake3::hash(json.as_bytes()));
        let conversation = serde_json::from_str(&json).map_err(|error| error.to_string());
        Self { compaction: Arc::clone(compaction), conversation, tokens: source::size(task).tokens, identity }
    }
}

#[async_trait]
impl ChatModel for CompactionConversation {
    fn name(&self) -> &str {
        self.compaction.name()
    }

    /// Includes the conversation: an answer for one says nothing about another.
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn window(&self) -> Tokens {
        self.compaction.window()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let conversation = self.conversation.clone().map_err(|problem| {
            let message = format!("the messages make no request: {problem}");
            ChatError::new(ChatErrorKind::Rejected, message)
        })?;
        let asked = CompactionRequest {
            conversation,
            tokens: self.tokens,
            instructions: request.user.clone(),
            max_tokens: request.max_tokens,
        };
        self.compaction.compact(&asked).await
    }
}

/// The request that `task` is, as JSON text, for Anthropic: the system prompt of the session, its messages, its tools.
fn render_task(task: &SummaryTask<'_>) -> String {
    let system = task.session.into_iter().flat_map(|session| session.view()).map(|entry| &entry.message);
    let messages = system.filter(|message| message.is_system_prompt()).chain(task.messages.iter());
    let mut seen_system = Vec::new();
    let entries: Vec<Entry> = messages
        // A part of the system prompt is there once.
        .filter(|message| {
            let is_again = message.is_system_prompt() && seen_system.contains(&&message.id);
            seen_system.extend(message.is_system_prompt().then_some(&message.id));
            !is_again
        })
        .enumerate()
        .map(|(index, message)| {
            let index = index as u32;
            Entry::new(EntryKey::Log(index), Position::log(index), portable_message(message))
        })
        .collect();
    let tools = task.session.and_then(|session| session.tools.as_deref());
    render(&entries, Wire::Anthropic, tools, None).json
}

/// `message` without the parts that a provider takes only in their original place: reasoning, which is signed for its
/// model and its place, and unreadable blocks.
fn portable_message(message: &Arc<Message>) -> Arc<Message> {
    let is_bound = |block: &Block| matches!(block.content, Content::Thinking(_) | Content::Opaque(_));
    if !message.blocks.iter().any(is_bound) {
        return Arc::clone(message);
    }
    let mut said = Message::clone(message);
    said.blocks.retain(|block| !is_bound(block));
    Arc::new(said)
}
