//! The result of a search.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{MessageId, Role};
use serde::{Deserialize, Serialize};

/// The passages of one page, the best first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Page {
    /// The passages; no two of them share a line.
    pub passages: Vec<Passage>,
    /// Whether the next page has any.
    pub more: bool,
}

/// A stretch of the log that matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Passage {
    /// The text of the log. Where it has more than one speaker, each part follows a line that names its message:
    /// `#37 Bash →`.
    pub text: String,
    /// The message that matches best.
    pub message: MessageId,
    /// That message's number in the log, from 0.
    pub number: u32,
    /// That message's role.
    pub role: Role,
    /// The tool that was called there, or whose output it is.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tool: Option<Arc<str>>,
    /// The file that the call names.
    #[cfg_attr(feature = "schema", schema(required))]
    pub file: Option<Arc<str>>,
    /// The handle that recalls what left the context with it; `None` for a passage that the context still contains, and
    /// where that is not known ([`Page::locate`]).
    #[cfg_attr(feature = "schema", schema(required))]
    pub handle: Option<Arc<str>>,
    /// Whether the context still contains all of it; `None` where that is not known ([`Page::locate`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub in_context: Option<bool>,
    /// The messages in it that a person took back in the agent, by their numbers in the log: nobody goes by them any more
    /// ([`Page::locate`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_back: Vec<u32>,
    /// The message that the handle was found for, by its number in the log: the one that the passage is named after where
    /// that has left, else a neighbour.
    #[serde(skip)]
    pub left: Option<u32>,
    /// How well it matches, as a share of the best passage's score.
    pub score: f32,
    /// The stretches that it was taken from, in order.
    #[serde(skip)]
    pub parts: Vec<PassagePart>,
}

impl Passage {
    /// Returns the speaker of the best match, in a word: the message's role, but `tool` for a tool's output in a user's
    /// message, as agents without calls of their own record it.
    pub fn speaker(&self) -> &'static str {
        match self.role {
            Role::User if self.tool.is_some() => Role::Tool.as_str(),
            role => role.as_str(),
        }
    }
}

/// A part of a passage: a stretch of one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassagePart {
    /// The message's number in the log.
    pub message: u32,
    /// The block's number in the message.
    pub block: u32,
    /// The bytes of the block's recorded text; `None` for a call, whose arguments are shown in another form than the
    /// recorded one.
    pub bytes: Option<Range<u32>>,
}
