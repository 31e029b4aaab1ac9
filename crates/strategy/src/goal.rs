//! The goal: what a plan is to reach.

use epitome_session::Language;
use serde::{Deserialize, Serialize};

use crate::services::Tokens;
use crate::task::TaskKind;

/// What a plan is to reach. A strategy stops when it is met: it gets what is left of the budget, never a fixed share of
/// its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Tokens of the view now.
    pub current: Tokens,
    /// Tokens to get down to.
    pub target: Tokens,
    /// Tokens that must not be exceeded; at least `target`.
    pub limit: Tokens,
    /// The model's window, for rules that speak of shares of it; `limit` where no window is known.
    pub window: Tokens,
    /// What kind of task the session is.
    pub task: TaskKind,
    /// How many compactions this session will have had when this one is done: 1 for the first.
    pub cycle: u32,
    /// The current question, or what the user asked to keep in focus.
    pub focus: Option<String>,
    /// Whether what comes next is about the focus: the host gave it, or it asks what nothing has answered yet.
    /// Otherwise it is the newest thing that a person typed, and what comes next may be about something else.
    pub focus_given: bool,
    /// The first unit that was never sent to the model: edits from here on cost no prompt cache.
    pub first_unsent_unit: Option<u32>,
    /// The language of the texts that the engine writes for this session.
    pub language: Language,
}

impl Goal {
    /// Tokens still to be saved; 0 when the target is met.
    pub fn excess(&self) -> Tokens {
        self.current.saturating_sub(self.target)
    }

    /// Whether the target is met.
    pub fn is_met(&self) -> bool {
        self.current <= self.target
    }
}
