//! The compaction that an agent comes with, as far as its price tells: when it comes, what it reads, and what it leaves.

use std::sync::Arc;

use epitome::session::{Entry, Epoch, Message, Origin, Position, Role, SyntheticMessage, Trigger};

use crate::EvalError;
use crate::cases::cut::tokens_of;

/// What stands in front of the names of these policies.
pub(crate) const OWN: &str = "own:";

/// Tokens of a summary: the median of the 13 that Claude Code's models wrote in 9 recorded sessions (800 to 6,300).
const SUMMARY: usize = 2_600;

/// The window that the agents' defaults in tokens are made for; in a smaller one they are in proportion.
const USUAL_WINDOW: u32 = 128_000;

/// An agent's own compaction: a model reads the view and writes a summary, which stands in place of all but some messages.
///
/// What the summary says is not known, so nothing is held against it: an agent that has it calls nothing again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentCompaction {
    /// The agent.
    pub(crate) agent: &'static str,
    /// The share of the window at which it comes, and tokens below it.
    full: (f64, u32),
    /// What stays beside the summary.
    kept: Kept,
    /// Whether the summary is asked for behind the request as it was, which the provider's cache has.
    pub(crate) is_cached: bool,
}

/// What an agent leaves beside its summary.
#[derive(Debug, Clone, Copy)]
enum Kept {
    /// Nothing.
    Nothing,
    /// The newest messages up to this many tokens.
    Newest(u32),
    /// The newest messages that a person typed, up to this many tokens.
    Typed(u32),
}

/// The agents with the figures of their own programs: Claude Code 2.1.332, which keeps 20,000 tokens of its window for the summary and
/// begins 13,000 below that; Codex's `compact.rs` (`COMPACT_USER_MESSAGE_MAX_TOKENS`) at nine tenths; opencode 1.18.33's
/// `preserve_recent_tokens` in a window less an answer of an eighth of it; Pi 1.5.2's `keepRecentTokens` and `reserveTokens`.
const AGENTS: [AgentCompaction; 4] = [
    AgentCompaction { agent: "claude-code", full: (1.0, 33_000), kept: Kept::Nothing, is_cached: true },
    AgentCompaction { agent: "codex", full: (0.9, 0), kept: Kept::Typed(20_000), is_cached: false },
    AgentCompaction { agent: "opencode", full: (0.875, 0), kept: Kept::Newest(15_000), is_cached: false },
    AgentCompaction { agent: "pi", full: (1.0, 16_384), kept: Kept::Newest(20_000), is_cached: false },
];

impl AgentCompaction {
    /// Returns the compaction of an agent. The error names the agents that are known.
    pub(crate) fn by_name(agent: &str) -> Result<Self, EvalError> {
        AGENTS.into_iter().find(|known| known.agent == agent).ok_or_else(|| {
            let known = AGENTS.map(|known| known.agent).join(", ");
            EvalError::Method(format!("`{OWN}{agent}`: how this agent compacts is not known; there are {known}"))
        })
    }

    /// Returns the tokens from which on it compacts in a window of `window` tokens. Constant time.
    pub(crate) fn threshold(&self, window: u32) -> u64 {
        let (share, below) = self.full;
        u64::from(((f64::from(window) * share) as u32).saturating_sub(scaled(below, window)))
    }

    /// Returns the compaction of a view in a window of `window` tokens, as the epoch `number`; `None` where nothing would
    /// leave. Linear in the view.
    pub(crate) fn epoch(&self, view: &[Entry], window: u32, number: u32) -> Option<Epoch> {
        let stays = |entry: &Entry| entry.message.is_system_prompt();
        let tail = match self.kept {
            Kept::Newest(most) => start_of_newest(view, u64::from(scaled(most, window))),
            Kept::Nothing | Kept::Typed(_) => view.len(),
        };
        let mut room = match self.kept {
            Kept::Typed(most) => u64::from(scaled(most, window)),
            Kept::Nothing | Kept::Newest(_) => 0,
        };
        let mut removed = Vec::new();
        for entry in view[..tail].iter().rev().filter(|entry| !stays(entry)) {
            let left = room.checked_sub(u64::from(tokens_of(&entry.message)));
            match left.filter(|_| entry.message.is_typed()) {
                Some(left) => room = left,
                None => removed.push(entry.key),
            }
        }
        let first = view.iter().find(|entry| removed.last() == Some(&entry.key))?;
        let text = "summary ".repeat(SUMMARY);
        let message = Message::text("", Role::User, Origin::Summary, text.trim_end());
        let position = Position::in_place_of(first.position, number, 0);
        removed.reverse();
        Some(Epoch::recorded(Trigger::Soft, removed, vec![SyntheticMessage { position, message: Arc::new(message) }]))
    }
}

/// Returns tokens of an agent's defaults in proportion to a window that is smaller than that which they are made for.
fn scaled(tokens: u32, window: u32) -> u32 {
    (u64::from(tokens) * u64::from(window.min(USUAL_WINDOW)) / u64::from(USUAL_WINDOW)) as u32
}

/// Returns where the newest messages that fit in `most` tokens begin: no result of a tool is the first.
fn start_of_newest(view: &[Entry], most: u64) -> usize {
    let mut room = most;
    let mut start = view.len();
    for (at, entry) in view.iter().enumerate().rev() {
        let Some(left) = room.checked_sub(u64::from(tokens_of(&entry.message))) else { break };
        room = left;
        if entry.message.role != Role::Tool {
            start = at;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use epitome::Session;

    use super::*;

    /// A system prompt, a question, and work of 300 tokens a message.
    fn session() -> Session {
        let mut session = Session::new();
        session.push(Message::text("s", Role::System, Origin::Instructions, "you help"));
        session.push(Message::text("u", Role::User, Origin::Typed, "a question"));
        for _ in 0..100 {
            session.push(Message::text("a", Role::Assistant, Origin::Model, "word ".repeat(300)));
        }
        session
    }

    /// What stays of the session behind a compaction in a window of 64,000: its messages, and their tokens.
    fn left(agent: &str) -> (Vec<Origin>, u64) {
        let mut session = session();
        let own = AgentCompaction::by_name(agent).unwrap();
        let epoch = own.epoch(session.view(), 64_000, session.next_epoch()).unwrap();
        session.commit(epoch);
        let origins = session.view().iter().map(|entry| entry.message.origin).collect();
        (origins, session.view().iter().map(|entry| u64::from(tokens_of(&entry.message))).sum())
    }

    #[test]
    fn each_agent_leaves_what_it_leaves() {
        let (origins, tokens) = left("claude-code");
        assert_eq!(origins, [Origin::Instructions, Origin::Summary]);
        assert!((2_600..2_650).contains(&tokens), "{tokens}");
        let (origins, _) = left("codex");
        assert_eq!(origins, [Origin::Instructions, Origin::Typed, Origin::Summary]);
        // 7,500 tokens in half of the usual window.
        let (origins, tokens) = left("opencode");
        assert_eq!(origins[..3], [Origin::Instructions, Origin::Summary, Origin::Model]);
        assert!((9_500..10_150).contains(&tokens), "{tokens}");
    }

    #[test]
    fn each_comes_at_its_threshold() {
        let at = |agent: &str, window| AgentCompaction::by_name(agent).unwrap().threshold(window);
        assert_eq!((at("codex", 200_000), at("opencode", 64_000)), (180_000, 56_000));
        assert_eq!((at("pi", 128_000), at("pi", 64_000)), (111_616, 55_808));
        assert_eq!(at("claude-code", 200_000), 167_000);
        assert!(AgentCompaction::by_name("other").unwrap_err().to_string().contains("claude-code, codex"));
    }
}
