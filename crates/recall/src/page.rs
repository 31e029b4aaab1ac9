//! What was found.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{MessageId, Role};
use serde::{Deserialize, Serialize};

/// The passages of one page, the best first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Page {
    /// The passages; no two of them share a line.
    pub passages: Vec<Passage>,
    /// Whether the next page holds any.
    pub more: bool,
}

/// A stretch of the log that matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The words of the log. Where they come from more than one speaker, each part stands under a line that names its
    /// message: `#37 Bash →`.
    pub text: String,
    /// The message in which it matches best.
    pub message: MessageId,
    /// That message's number in the log, from 0.
    pub number: u32,
    /// That message's role.
    pub role: Role,
    /// The tool that was called there, or that printed it.
    pub tool: Option<Arc<str>>,
    /// The file that the call names.
    pub file: Option<Arc<str>>,
    /// What left the context with it can be recalled by this; `None` for what the context still holds, and where it is not
    /// known ([`Page::locate`] tells).
    pub handle: Option<Arc<str>>,
    /// Whether the context still holds all of it; `None` where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_context: Option<bool>,
    /// How well it matches, as a share of the best passage's score.
    pub score: f32,
    /// What it was taken from, in order.
    #[serde(skip)]
    pub parts: Vec<Part>,
}

impl Passage {
    /// Who speaks where it matches best, in a word: the message's role, but `tool` for what a tool printed into a user's
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
pub struct Part {
    /// The message's number in the log.
    pub message: u32,
    /// The block's number in the message.
    pub block: u32,
    /// The bytes of the block's recorded text; `None` for a call, whose arguments are told in another form than they were
    /// recorded in.
    pub bytes: Option<Range<u32>>,
}
