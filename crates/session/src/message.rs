//! Messages: role, origin and blocks.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::{Block, Content, ToolCall, ToolResult};

/// A message's id, unique in its session: the recording's own id, or its position where the format has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub Arc<str>);

impl MessageId {
    /// An id from text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Who speaks, for the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The system prompt (developer messages too).
    System,
    /// The user's side; not everything here was typed by a person, see [`Origin`].
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The role's lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Where a message really comes from. A user-role message that only carries tool output or an injected reminder is not
/// a genuine user turn: pins, rounds and standing instructions go by this, not by the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The system prompt or a developer's instructions.
    Instructions,
    /// Typed by a person: a genuine user turn.
    Typed,
    /// Put on the user's side by the runtime: reminders, environment, echoes of commands.
    Injected,
    /// A tool's output carried by a user-role message (agents that call tools in plain text).
    ToolOutput,
    /// Written by the model.
    Model,
    /// A tool's result.
    Tool,
    /// Written by a compaction in place of what left: a summary.
    Summary,
    /// Written by the engine: says that messages left, or opens the conversation. It holds nothing of what was said.
    Notice,
    /// Written by the engine for a call whose result was never recorded.
    Answer,
}

/// The language of the texts that the engine writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

/// What the provider said that a request cost, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens of the request that produced this message, cached ones included.
    pub input: u64,
    /// Of these, the tokens read from the prompt cache.
    pub cache_read: u64,
    /// Of these, the tokens written to the prompt cache.
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
}

/// A tool call that an agent wrote in plain text. It marks a place in a text block; the text itself stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCall {
    /// The tool's name: `bash`, or the name written in the text.
    pub name: Arc<str>,
    /// The block of the message that holds it.
    pub block: u32,
    /// Byte range of the arguments in that block's text.
    pub start: u32,
    /// End of that range.
    pub end: u32,
}

/// One message of a session.
///
/// Each tool result is a message of its own (role [`Role::Tool`], one [`Content::ToolResult`] block); a provider that
/// wants them grouped gets them grouped when the view is rendered for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Unique in the session.
    pub id: MessageId,
    /// Who speaks, for the provider.
    pub role: Role,
    /// Where it really comes from.
    pub origin: Origin,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
    /// The participant's name, where there are several of one role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// Whether the host pinned it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Tool calls written in plain text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_calls: Vec<TextCall>,
    /// What the provider reported for the request that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The source records that it was read from, by number; the format's business, empty for a message that was not read
    /// from a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<u32>,
}

impl Message {
    /// A message of one text block.
    pub fn text(id: impl Into<Arc<str>>, role: Role, origin: Origin, text: impl Into<Arc<str>>) -> Self {
        Self::new(id, role, origin, vec![Block::text(text)])
    }

    /// A message with the given blocks and nothing else set.
    pub fn new(id: impl Into<Arc<str>>, role: Role, origin: Origin, blocks: Vec<Block>) -> Self {
        Self {
            id: MessageId::new(id),
            role,
            origin,
            blocks,
            name: None,
            timestamp: None,
            pinned: false,
            text_calls: Vec::new(),
            usage: None,
            records: Vec::new(),
        }
    }

    /// A tool's result as a message.
    pub fn result(id: impl Into<Arc<str>>, result: ToolResult) -> Self {
        Self::new(id, Role::Tool, Origin::Tool, vec![Block::new(Content::ToolResult(result))])
    }

    /// The calls in the message, in order, with the number of their block.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &ToolCall)> {
        self.blocks.iter().enumerate().filter_map(|(index, block)| Some((index, block.as_call()?)))
    }

    /// Whether a person typed it: the turn that starts a round.
    pub fn is_typed(&self) -> bool {
        self.role == Role::User && self.origin == Origin::Typed
    }

    /// Whether it is a part of the system prompt. A summary on the system's side is none: it may leave like any other.
    pub fn is_system_prompt(&self) -> bool {
        self.role == Role::System && !matches!(self.origin, Origin::Summary | Origin::Notice)
    }

    /// Whether it carries signed reasoning.
    pub fn has_signed_thinking(&self) -> bool {
        self.blocks.iter().any(Block::is_signed_thinking)
    }

    /// The readable text of its text blocks, joined by newlines.
    pub fn plain_text(&self) -> String {
        let mut joined = String::new();
        for block in &self.blocks {
            if let Content::Text { text } = &block.content {
                if !joined.is_empty() {
                    joined.push('\n');
                }
                joined.push_str(text);
            }
        }
        joined
    }
}
