//! The request of a compaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_session::{MessageRange, Role, Trigger};
use epitome_strategy::{Cancellation, HostChanges, Strategy, TaskKind, Tokens, named};

use crate::observe::Observer;
use crate::report::Mode;

/// An ordered list of strategies, tried until the target is met.
#[derive(Debug, Clone, Default)]
pub struct Chain(pub Vec<Arc<dyn Strategy>>);

impl Chain {
    /// The strategies' ids, in order.
    pub fn ids(&self) -> Vec<String> {
        self.0.iter().map(|strategy| strategy.meta().id.to_owned()).collect()
    }
}

/// The chains by kind of task.
#[derive(Debug, Clone, Default)]
pub struct Chains {
    /// For code.
    pub code: Chain,
    /// For analysis.
    pub analysis: Chain,
    /// For conversation.
    pub conversation: Chain,
    /// For mixed sessions.
    pub mixed: Chain,
    /// For sessions of unknown kind.
    pub unknown: Chain,
    /// For sessions that were compacted before, from [`SelectSettings::later_from`](crate::SelectSettings::later_from)
    /// on: what the first chains remove is gone by then. A kind without an entry keeps its first chain.
    pub later: BTreeMap<TaskKind, Chain>,
}

impl Chains {
    /// Returns the first chain of a kind of task.
    pub fn chain(&self, kind: TaskKind) -> &Chain {
        match kind {
            TaskKind::Code => &self.code,
            TaskKind::Analysis => &self.analysis,
            TaskKind::Conversation => &self.conversation,
            TaskKind::Mixed => &self.mixed,
            TaskKind::Unknown => &self.unknown,
        }
    }
}

/// What must stay verbatim, beside the system prompt, open calls and the newest genuine user message, which always do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    /// The first genuine user message.
    pub original_task: bool,
    /// The newest rounds, whole.
    pub last_rounds: u32,
    /// The newest messages, whole: this many, with their units, as long as they take no more than half of what a
    /// compaction's target leaves beside the rest that must stay.
    pub keep_recent: u32,
    /// Tools whose calls and results stay, letter case not counted: agents write `Skill` and `skill`.
    pub protected_tools: Vec<String>,
    /// Texts that pin the message that contains them.
    pub markers: Vec<String>,
}

impl Default for Pins {
    fn default() -> Self {
        Self {
            original_task: true,
            last_rounds: 0,
            keep_recent: 0,
            protected_tools: vec!["Skill".to_owned()],
            markers: vec!["<Pin>".to_owned()],
        }
    }
}

/// What follows where a summary cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WithoutSummary {
    /// The edit that asked for it is refused, and the chain continues.
    #[default]
    GoOn,
    /// The session stays unchanged: [`EngineError::NoSummary`](crate::EngineError::NoSummary).
    Stop,
}

named! { WithoutSummary { GoOn = "go-on", Stop = "stop" } }

/// The role of summaries. A provider that accepts system messages only at the top (Anthropic) gets them as user
/// messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryRole {
    /// The user's role.
    #[default]
    User,
    /// The system's role: for the model such a message is not part of the conversation. It is not part of the system
    /// prompt either, and leaves with later compactions.
    System,
}

named! { SummaryRole { User = "user", System = "system" } }

impl SummaryRole {
    pub(crate) fn role(self) -> Role {
        match self {
            Self::User => Role::User,
            Self::System => Role::System,
        }
    }
}

/// A fact from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryNote {
    /// The text; only its first 400 columns are shown, on one line.
    pub text: String,
    /// Whether a person typed it; otherwise a command showed it.
    pub is_typed: bool,
}

/// One compaction.
#[derive(Debug, Clone)]
pub struct Request {
    /// The target, in tokens.
    pub target: Tokens,
    /// Tokens that the result must not exceed; at least `target`.
    pub limit: Tokens,
    /// The model's window, for rules that speak of shares of it; `limit` where it is not known.
    pub window: Option<Tokens>,
    /// The trigger that started it.
    pub trigger: Trigger,
    /// The fewest tokens that it has to save: where less may leave, no strategy is asked, no model is paid, and the
    /// report states it. 0 makes it in any case.
    pub min_saving: Tokens,
    /// How the chain is chosen.
    pub mode: Mode,
    /// The kind of task, where the host knows it better than the detector.
    pub task: Option<TaskKind>,
    /// The chain to use, whatever the kind of task is.
    pub chain: Option<Chain>,
    /// The focus; the newest genuine user message without it.
    pub focus: Option<String>,
    /// Facts from elsewhere that the texts of the compaction name, the most important first. Those that the view shows
    /// already are left out.
    pub memories: Vec<MemoryNote>,
    /// Messages that are kept by hand, as a pin keeps them, from this compaction on until they are released
    /// ([`Epoch::keeping`](epitome_session::Epoch::keeping)).
    pub keep: Vec<MessageRange>,
    /// Messages that leave by hand, before any strategy is asked, also where the session fits. What must stay is skipped in
    /// a range, and an error where it is named alone.
    pub drop: Vec<MessageRange>,
    /// Receives the events of the compaction.
    pub observer: Option<Arc<dyn Observer>>,
    /// How many messages at the end of the view were never sent to the model: changing them costs no prompt cache.
    pub unsent_messages: u32,
    /// Cancels the work: [`EngineError::Cancelled`](crate::EngineError::Cancelled), and the session stays as it was.
    pub cancellation: Cancellation,
    /// The changes that the host can make: the result has no other.
    pub host: HostChanges,
}

impl Request {
    /// Returns a compaction to at most `budget` tokens, asked for by hand.
    pub fn to_budget(budget: Tokens) -> Self {
        Self {
            target: budget,
            limit: budget,
            window: None,
            trigger: Trigger::Manual,
            min_saving: 0,
            mode: Mode::Adaptive,
            task: None,
            chain: None,
            focus: None,
            memories: Vec::new(),
            keep: Vec::new(),
            drop: Vec::new(),
            observer: None,
            unsent_messages: 0,
            cancellation: Cancellation::default(),
            host: HostChanges::Any,
        }
    }
}
