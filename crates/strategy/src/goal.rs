//! The goal of a plan.

use epitome_session::Language;
use serde::{Deserialize, Serialize};

use crate::host::HostChanges;
use crate::services::Tokens;
use crate::task::TaskKind;

/// The goal of a plan. A strategy stops when it is met: it gets what is left of the budget, never a fixed share of its
/// own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Tokens of the view now.
    pub current: Tokens,
    /// The target, in tokens.
    pub target: Tokens,
    /// The limit, in tokens; at least `target`.
    pub limit: Tokens,
    /// The model's window, for rules that speak of shares of it; `limit` where the window is not known.
    pub window: Tokens,
    /// Tokens that one summary may take at most, as the host was told; `None` where nothing was said: see
    /// [`longest_summary`](Self::longest_summary).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_summary_tokens: Option<Tokens>,
    /// The session's kind of task.
    pub task: TaskKind,
    /// The number of this compaction in the session, from 1.
    pub cycle: u32,
    /// The current question, or what the user asked to keep in focus.
    pub focus: Option<String>,
    /// Whether the next turn is about the focus: the host gave it, or it asks something that is not answered yet.
    /// Otherwise the focus is the newest typed message, and the next turn may be about something else.
    pub focus_given: bool,
    /// The first unit that was never sent to the model: edits from here on cost no prompt cache.
    pub first_unsent_unit: Option<u32>,
    /// The language of the texts that the engine writes for this session.
    pub language: Language,
    /// The changes that the host can make. The view's protections follow from it, so a strategy that plans by them needs
    /// no more; one that is about a change which the host cannot make declines.
    #[serde(default)]
    pub host: HostChanges,
}

/// Tokens that a requested summary takes at most where nothing is said: what a model writes in one answer without losing the
/// thread, and no more than readers of hand-offs go through.
const LONGEST_SUMMARY: Tokens = 4_000;

impl Goal {
    /// Returns the tokens that a summary may take at most which a strategy requests.
    pub fn longest_summary(&self) -> Tokens {
        self.max_summary_tokens.unwrap_or(LONGEST_SUMMARY)
    }

    /// Returns the tokens still to be saved; 0 when the target is met.
    pub fn excess(&self) -> Tokens {
        self.current.saturating_sub(self.target)
    }

    /// Whether the target is met.
    pub fn is_met(&self) -> bool {
        self.current <= self.target
    }
}
