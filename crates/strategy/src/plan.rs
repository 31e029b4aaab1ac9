//! Plans: typed edits, each with a reason.

use std::ops::Range;

use epitome_session::Reason;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::services::Tokens;

/// The changes that a strategy proposes for the view, in order of preference: the engine applies the edits from the
/// first to the last and stops when the goal is met.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The edits. Positions refer to the view of the call; an edit that overlaps an earlier one is refused.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// Why there is nothing to do, where that is so: a normal answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<String>,
}

/// One edit of the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "lowercase")]
pub enum Edit {
    /// The units leave the context whole.
    Drop {
        /// Positions of units in the view.
        units: Vec<u32>,
        /// The reason.
        reason: Reason,
    },
    /// The units are replaced by one message in the place of the first of them.
    Summarize {
        /// Positions of units in the view.
        units: Vec<u32>,
        /// The text, or the request for one.
        summary: SummaryText,
        /// The reason.
        reason: Reason,
    },
    /// Only byte ranges of a text block, a tool result or unsigned thinking stay; the engine writes a mark for each gap.
    Excerpt {
        /// Position of the message in the view.
        message: u32,
        /// Position of the block in the message.
        block: u32,
        /// The byte ranges that stay, of the text that the view shows, sorted, on character boundaries; without ranges
        /// the edit leaves a stub.
        keep: Vec<Range<u32>>,
        /// The reason.
        reason: Reason,
    },
    /// Long strings in a call's arguments are shortened; JSON stays valid JSON with the same keys.
    Trim {
        /// Position of the message in the view.
        message: u32,
        /// Position of the block in the message.
        block: u32,
        /// Strings longer than this many characters are cut to this length.
        max_chars: u32,
        /// The reason.
        reason: Reason,
    },
}

impl Edit {
    /// Returns the reason of the edit.
    pub fn reason(&self) -> &Reason {
        match self {
            Self::Drop { reason, .. }
            | Self::Summarize { reason, .. }
            | Self::Excerpt { reason, .. }
            | Self::Trim { reason, .. } => reason,
        }
    }
}

/// The text of a summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryText {
    /// The text itself.
    Ready(String),
    /// A request: the engine has the text written.
    Request(SummaryRequest),
}

/// A request for a summary, which the configured summarizer writes for the engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// The most tokens of the summary.
    pub max_tokens: Tokens,
    /// The current question: facts relevant to it go in first.
    #[serde(default)]
    pub focus: Option<String>,
    /// Positions of the units that the text covers, ascending, where these are not the units that it replaces. It is a
    /// hand-off then, which replaces some units and covers the whole session up to them. Empty for a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<u32>,
}

impl SummaryRequest {
    /// Returns a request for a summary of the replaced units, in at most this many tokens.
    pub fn new(max_tokens: Tokens, focus: Option<String>) -> Self {
        Self { max_tokens, focus, about: Vec::new() }
    }

    /// Whether the text should cover the whole session.
    pub fn is_handoff(&self) -> bool {
        !self.about.is_empty()
    }
}

/// Why a strategy could not plan. The engine records it and continues the chain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PlanError(pub String);

impl Plan {
    /// Returns a plan without edits, with the reason.
    pub fn decline(reason: impl Into<String>) -> Self {
        Self { edits: Vec::new(), declined: Some(reason.into()) }
    }

    /// Returns a plan of `edits`, or a refusal for `reason` where there are none.
    pub fn from_edits(edits: Vec<Edit>, reason: impl Into<String>) -> Self {
        if edits.is_empty() { Self::decline(reason) } else { Self { edits, declined: None } }
    }
}
