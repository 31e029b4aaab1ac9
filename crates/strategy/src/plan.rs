//! Plans: typed edits, each with a reason.

use std::ops::Range;

use epitome_session::Reason;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::services::Tokens;

/// What a strategy wants done to the view that it was shown, in order of preference: the engine applies the edits from
/// the first to the last and stops when the goal is met.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The edits. Positions refer to the view as it was shown; an edit that overlaps an earlier one is refused.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// Why there is nothing to do, where there is nothing to do: a normal answer.
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
        /// Why.
        reason: Reason,
    },
    /// The units are replaced by one message, which stands where the first of them stood.
    Summarize {
        /// Positions of units in the view.
        units: Vec<u32>,
        /// The text, or the request for one.
        summary: SummaryText,
        /// Why.
        reason: Reason,
    },
    /// Only byte ranges of a text block, a tool result or unsigned thinking stay; the engine writes a mark for each gap.
    Excerpt {
        /// Position of the message in the view.
        message: u32,
        /// Which of its blocks.
        block: u32,
        /// What stays, as byte ranges of the text that the view shows, sorted, on character boundaries; nothing kept
        /// leaves a stub.
        keep: Vec<Range<u32>>,
        /// Why.
        reason: Reason,
    },
    /// Long strings in a call's arguments are shortened; JSON stays valid JSON with the same keys.
    Trim {
        /// Position of the message in the view.
        message: u32,
        /// Which of its blocks.
        block: u32,
        /// Strings longer than this many characters are cut to it.
        max_chars: u32,
        /// Why.
        reason: Reason,
    },
}

impl Edit {
    /// Why it is to be made.
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
    /// The text is ready.
    Ready(String),
    /// The engine is to have it written.
    Request(SummaryRequest),
}

/// A request for a summary, which the engine has resolved by the configured summarizer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// Tokens that the summary may take.
    pub max_tokens: Tokens,
    /// The current question: what bears on it goes in first.
    #[serde(default)]
    pub focus: Option<String>,
    /// Positions of the units that the text tells of, ascending, where they are others than those that it replaces: it is
    /// a hand-off then, which stands for some units and tells of the whole session up to them. Empty for a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<u32>,
}

impl SummaryRequest {
    /// A request for a summary of what it replaces, in at most so many tokens.
    pub fn new(max_tokens: Tokens, focus: Option<String>) -> Self {
        Self { max_tokens, focus, about: Vec::new() }
    }

    /// Whether the text is to tell of the whole session.
    pub fn is_handoff(&self) -> bool {
        !self.about.is_empty()
    }
}

/// Why a strategy could not plan. The engine records it and goes on with the chain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PlanError(pub String);

impl Plan {
    /// A plan that does nothing, and says why.
    pub fn decline(reason: impl Into<String>) -> Self {
        Self { edits: Vec::new(), declined: Some(reason.into()) }
    }

    /// A plan of `edits`, or a refusal for `reason` where there are none.
    pub fn of(edits: Vec<Edit>, reason: impl Into<String>) -> Self {
        if edits.is_empty() { Self::decline(reason) } else { Self { edits, declined: None } }
    }
}
