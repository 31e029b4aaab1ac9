//! The words of a call: how much, by which chain, about what.

use epitome::engine::Mode;
use epitome::session::MessageRange;
use epitome::strategy::{TaskKind, Value};
use serde_json::Map;

/// What messages may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// So many tokens.
    Tokens(u32),
    /// A part of what they take now, above 0 and at most 1.
    Part(f64),
}

impl Share {
    /// In tokens, for messages that take `now`; 1 at least.
    pub fn tokens(self, now: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Part(part) => ((f64::from(now) * part) as u32).max(1),
        }
    }
}

/// The words of a call that say how to compact.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The format of what is given; it is recognised without.
    pub format: Option<String>,
    /// The name or number of the session; the only one without.
    pub session: Option<String>,
    /// The format to write; the session's own without, or `openai-chat` where that cannot be written.
    pub to: Option<String>,
    /// What the messages may take; what the configuration says of it where there is none.
    pub budget: Option<Share>,
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
