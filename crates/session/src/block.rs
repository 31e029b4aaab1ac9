//! Blocks: the parts of a message.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;
use crate::media::Media;
use crate::text_range::TextRange;

/// The id that ties a tool call to its result, as the agent recorded it.
///
/// Unique at best within one session, sometimes not even there, and possibly empty: pair with
/// [`OpenCalls`](crate::OpenCalls), never by id alone.
pub type CallId = Arc<str>;

/// One part of a message: what it holds, and its recorded bytes where they cannot be rebuilt from that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MessageBlock))]
pub struct Block {
    /// What the block holds.
    pub content: Content,
    /// The block's recorded JSON, kept when it holds more than [`content`](Self::content) says (cache marks, citations).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub raw: Option<RawBlock>,
    /// The parts of its text that a person said, ascending; `None` for what its message's origin says: all of a typed text,
    /// nothing of any other. See [`speaker`](crate::speaker).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub typed: Option<Vec<TextRange>>,
    /// The parts of its text that the host loaded as instructions (rules files, memories, skills, modes, what hooks add),
    /// ascending. They say what was loaded, and not that it is to be trusted: a part has the level of its message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<TextRange>,
}

/// A block's recorded JSON and its dialect: an untouched block is written back as these bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RawBlock {
    /// The dialect of the JSON.
    pub dialect: Dialect,
    /// The JSON text, byte for byte.
    pub json: Arc<str>,
}

/// The JSON shapes in which providers take blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Anthropic messages (Claude Code records contain these too).
    Anthropic,
    /// OpenAI chat completions.
    OpenaiChat,
    /// OpenAI Responses items (Codex rollouts contain these too).
    OpenaiResponses,
    /// Pi's own content blocks.
    Pi,
    /// Gemini's parts.
    Gemini,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// A model's reasoning.
    Thinking(Thinking),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// An image, a document, a sound.
    Media(Media),
    /// A kind of block that this version does not know, kept byte for byte.
    Opaque(OpaqueBlock),
    /// A block that has left the view whole. It costs nothing and is not rendered; it keeps its place so that the
    /// positions of the blocks after it do not change.
    Gone,
}

/// A model's reasoning. Signed reasoning is valid only as recorded: whole and in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Thinking {
    /// The readable text; may be empty.
    pub text: Arc<str>,
    /// The provider's signature or encrypted form, byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub signature: Option<Arc<str>>,
    /// Whether the text was withheld by the provider and [`signature`](Self::signature) holds its redacted data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolCall {
    /// The id that its result repeats.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: CallId,
    /// The tool's name.
    pub name: Arc<str>,
    /// The arguments.
    pub arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", content = "text", rename_all = "kebab-case")]
pub enum Arguments {
    /// JSON text, byte for byte as recorded.
    Json(Arc<str>),
    /// Free text that is not JSON (patches of custom tools, damaged arguments).
    Text(Arc<str>),
}

impl Arguments {
    /// Returns the arguments' text as recorded.
    pub fn text(&self) -> &Arc<str> {
        match self {
            Self::Json(text) | Self::Text(text) => text,
        }
    }

    /// Returns the arguments parsed; `None` where they are free text, or damaged. Linear in the text.
    pub fn json(&self) -> Option<serde_json::Value> {
        match self {
            Self::Json(text) => serde_json::from_str(text).ok(),
            Self::Text(_) => None,
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolResult {
    /// The id of the call that it answers; equal to the call's own.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub call_id: CallId,
    /// The tool's name, where the format repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub name: Option<Arc<str>>,
    /// The text; the text parts of a structured result joined by newlines.
    pub text: Arc<str>,
    /// Images and documents of the result, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Media>,
    /// Whether the tool reported an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// A kind of block that this version does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OpaqueBlock {
    /// Its recorded type name.
    pub kind: Arc<str>,
    /// Its JSON, byte for byte.
    pub json: Arc<str>,
    /// The dialect that it came in, the only one that it can be written back to.
    pub dialect: Dialect,
}

impl Content {
    /// Returns the media that it is, or that came with a tool's result.
    pub fn media(&self) -> &[Media] {
        match self {
            Self::Media(media) => std::slice::from_ref(media),
            Self::ToolResult(result) => &result.attachments,
            Self::Text { .. } | Self::Thinking(_) | Self::ToolCall(_) | Self::Opaque(_) | Self::Gone => &[],
        }
    }
}

impl Block {
    /// Returns a block without recorded bytes.
    pub fn new(content: Content) -> Self {
        Self { content, raw: None, typed: None, instructions: Vec::new() }
    }

    /// Returns the block as instructions that the host loaded, all of its text.
    #[must_use]
    pub fn as_instructions(mut self) -> Self {
        let length = self.excerptable().map_or(0, |text| text.len());
        self.instructions = if length > 0 { vec![TextRange::from(0..length)] } else { Vec::new() };
        self
    }

    /// Returns a text block.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::new(Content::Text { text: text.into() })
    }

    /// Returns the text that an excerpt may cut: of a text block, a tool result or unsigned thinking; `None` for all
    /// others.
    pub fn excerptable(&self) -> Option<&Arc<str>> {
        match &self.content {
            Content::Text { text } => Some(text),
            Content::ToolResult(result) => Some(&result.text),
            Content::Thinking(thinking) if thinking.signature.is_none() => Some(&thinking.text),
            Content::Thinking(_) | Content::ToolCall(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {
                None
            }
        }
    }

    /// Returns what was said, thought, asked of a tool or answered by it: the text, the reasoning, the arguments of the call,
    /// the result. `None` for media and for blocks of other kinds.
    pub fn recorded_text(&self) -> Option<&Arc<str>> {
        match &self.content {
            Content::Text { text } => Some(text),
            Content::Thinking(thinking) => Some(&thinking.text),
            Content::ToolCall(call) => Some(call.arguments.text()),
            Content::ToolResult(result) => Some(&result.text),
            Content::Media(_) | Content::Opaque(_) | Content::Gone => None,
        }
    }

    /// Returns the block with another excerptable text, and no recorded bytes or parts of a person; unchanged where it has no
    /// such text.
    pub fn with_text(&self, new: Arc<str>) -> Self {
        let content = match &self.content {
            Content::Text { .. } => Content::Text { text: new },
            Content::ToolResult(result) => Content::ToolResult(ToolResult { text: new, ..result.clone() }),
            Content::Thinking(thinking) if thinking.signature.is_none() => {
                Content::Thinking(Thinking { text: new, ..thinking.clone() })
            }
            _ => return self.clone(),
        };
        Self::new(content)
    }

    /// Returns the block as an excerpt shows it; media become the mark that replaces them, which counts as written by no person. `None` where it has no
    /// text that may be cut. Linear in the text.
    pub fn excerpted(&self, excerpt: &Excerpt) -> Option<Self> {
        if let (Content::Media(_), Some(mark)) = (&self.content, &excerpt.attachments) {
            return Some(Self { typed: Some(Vec::new()), ..Self::text(Arc::clone(mark)) });
        }
        let text = self.excerptable()?;
        let mut shown = self.with_text(Arc::from(excerpt.render(text)));
        shown.typed = self.typed.as_ref().map(|typed| excerpt.to_rendered(typed));
        if let (Content::ToolResult(result), Some(_)) = (&mut shown.content, &excerpt.attachments) {
            result.attachments.clear();
        }
        Some(shown)
    }

    /// Returns the tool call in the block, if it is one.
    pub fn as_call(&self) -> Option<&ToolCall> {
        match &self.content {
            Content::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the tool result in the block, if it is one.
    pub fn as_result(&self) -> Option<&ToolResult> {
        match &self.content {
            Content::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Whether the block is reasoning that carries a provider's signature.
    pub fn is_signed_thinking(&self) -> bool {
        matches!(&self.content, Content::Thinking(thinking) if thinking.signature.is_some())
    }
}
