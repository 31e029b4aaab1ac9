//! How a session is compacted: to which budget, by which chain, with what in focus.

use epitome::engine::Mode;
use epitome::session::MessageRange;
use epitome::strategy::{TaskKind, Value};
use serde_json::Map;

/// A token budget: absolute, or a share of the current size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenBudget {
    /// An absolute number of tokens.
    Tokens(u32),
    /// A share of what the messages take now, above 0 and at most 1.
    Share(f64),
}

impl TokenBudget {
    /// In tokens, for messages that take `now`; 1 at least.
    pub fn tokens(self, now: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => ((f64::from(now) * share) as u32).max(1),
        }
    }
}

/// How a session is compacted.
#[derive(Debug, Clone, Default)]
pub struct CompactOptions {
    /// The format of what is given; it is recognised without.
    pub format: Option<String>,
    /// The name or number of the session; the only one without.
    pub session: Option<String>,
    /// The format to write; the session's own without, or `openai-chat` where that cannot be written.
    pub to: Option<String>,
    /// What the messages may take; what the configuration says of it where there is none.
    pub budget: Option<TokenBudget>,
    /// The strategies to ask, or the name of a chain.
    pub chain: Option<Vec<String>>,
    /// How the chain is chosen.
    pub mode: Option<Mode>,
    /// The kind of task, where the caller knows it.
    pub task: Option<TaskKind>,
    /// What to keep in focus.
    pub focus: Option<String>,
    /// Messages that are kept by hand.
    pub keep: Vec<MessageRange>,
    /// Messages that leave by hand, before anything else does.
    pub drop: Vec<MessageRange>,
    /// Settings for this call alone, over the configuration's.
    pub settings: Map<String, Value>,
}
