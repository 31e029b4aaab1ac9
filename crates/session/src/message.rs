//! Messages: role, origin and blocks.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::{Block, CallId, Content, ToolCall, ToolResult};

/// A message's id, unique in its session: the recording's own id, or its position where the format has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct MessageId(pub Arc<str>);

impl MessageId {
    /// Returns an id with this text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The role of a message, for the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The system prompt (developer messages too).
    System,
    /// The user's side; not everything here was typed by a person, see [`Origin`].
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// Returns the role's lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// The real author of a message. A user-role message that only carries tool output or an injected reminder is not a
/// genuine user turn: pins, rounds and standing instructions go by the origin and not by the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The system prompt.
    Instructions,
    /// A developer's instructions, where the provider tells them from the system prompt.
    Developer,
    /// Configuration among the messages, which has no speaker: definitions of tools, references, approvals.
    Configuration,
    /// Typed by a person: a genuine user turn.
    Typed,
    /// Injected on the user's side by the harness: reminders, environment, echoes of commands.
    Injected,
    /// A tool's output carried by a user-role message (agents that call tools in plain text).
    ToolOutput,
    /// Written by the model.
    Model,
    /// The result of a tool call.
    Tool,
    /// Written by a compaction in place of messages that left: a summary.
    Summary,
    /// Written by the engine: says that messages left, or opens the conversation. It contains nothing of the
    /// conversation.
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

impl Language {
    /// Returns the one of two wordings that is in this language.
    pub fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

/// The provider's own figures for a request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

/// A tool call that an agent wrote in plain text. It marks a place in a text block; the text itself is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextCall {
    /// The tool's name: `bash`, or the name written in the text.
    pub name: Arc<str>,
    /// The position of the block that contains it.
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Message {
    /// Its id, unique in the session.
    pub id: MessageId,
    /// Its role, for the provider.
    pub role: Role,
    /// Its real author.
    pub origin: Origin,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// The participant's name, where one role has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub name: Option<Arc<str>>,
    /// When it was said, in milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub timestamp: Option<i64>,
    /// Whether the host pinned it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Tool calls written in plain text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_calls: Vec<TextCall>,
    /// The provider's figures for the request that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub usage: Option<Usage>,
    /// The numbers of the source records that it was read from, as the format defines them; empty for a message that
    /// was not read from a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<u32>,
    /// The id that a result came with where it is not that of the call that it answers; empty for none. The result has
    /// its call's: a session pairs them by id, then by the tool's name, then by their order within the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, value_type = Option<String>))]
    pub recorded_call_id: Option<CallId>,
    /// The call of an earlier message from which this one's calls are made: a program that the provider runs, and that goes on
    /// with their results. Both are parts of one step; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, value_type = Option<String>))]
    pub program: Option<CallId>,
}

impl Message {
    /// Returns a message of one text block.
    pub fn text(id: impl Into<Arc<str>>, role: Role, origin: Origin, text: impl Into<Arc<str>>) -> Self {
        Self::new(id, role, origin, vec![Block::text(text)])
    }

    /// Returns a message with the given blocks and nothing else set.
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
            recorded_call_id: None,
            program: None,
        }
    }

    /// Returns a tool's result as a message.
    pub fn result(id: impl Into<Arc<str>>, result: ToolResult) -> Self {
        Self::new(id, Role::Tool, Origin::Tool, vec![Block::new(Content::ToolResult(result))])
    }

    /// Returns the calls in the message, in order, with the number of their block.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &ToolCall)> {
        self.blocks.iter().enumerate().filter_map(|(index, block)| Some((index, block.as_call()?)))
    }

    /// Returns the texts of its text blocks, in order.
    pub fn texts(&self) -> impl Iterator<Item = &Arc<str>> {
        self.blocks.iter().filter_map(|block| match &block.content {
            Content::Text { text } => Some(text),
            _ => None,
        })
    }

    /// Whether a person typed it: such a message starts a round.
    pub fn is_typed(&self) -> bool {
        self.role == Role::User && self.origin == Origin::Typed
    }

    /// Whether it is a part of the system prompt, or configuration, which stays like it. A summary with the system's role is not: it may leave like any other.
    pub fn is_system_prompt(&self) -> bool {
        self.role == Role::System && !matches!(self.origin, Origin::Summary | Origin::Notice)
    }

    /// Whether it has a picture, a document, a sound or an unknown block, whose tokens are not counted as text.
    pub fn has_media(&self) -> bool {
        self.blocks.iter().any(|block| match &block.content {
            Content::Media(_) | Content::Opaque(_) => true,
            Content::ToolResult(result) => !result.attachments.is_empty(),
            _ => false,
        })
    }

    /// Whether it carries signed reasoning.
    pub fn has_signed_thinking(&self) -> bool {
        self.blocks.iter().any(Block::is_signed_thinking)
    }

    /// Returns the readable text of its text blocks, joined by newlines.
    pub fn plain_text(&self) -> String {
        let mut joined = String::new();
        for text in self.texts() {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(text);
        }
        joined
    }
}
