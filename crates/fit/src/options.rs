//! Options of a fitter.

use epitome::Budget;
use epitome::engine::Threshold;
use epitome::strategy::{HostChanges, Tokens};

/// Conversations that are remembered unless the host says otherwise.
const CONVERSATIONS: usize = 1_000;

/// The default memory for conversations, in bytes: a conversation takes some 100 KB after several compactions.
const MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of what left the context and can be retrieved.
const ARCHIVE_BYTES: usize = 32 * 1024 * 1024;

/// How lists are fitted, and how much a fitter may remember. Made by [`within`](Self::within), [`once`](Self::once) or
/// [`for_budget`](Self::for_budget), and changed field by field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FitOptions {
    /// The window, the part of it that stays free, and when and how far to compact.
    pub budget: Budget,
    /// The number of conversations to remember; the least recently used is forgotten first.
    pub conversations: usize,
    /// The approximate size of remembered conversations, in bytes: a quarter of it is for single messages.
    pub memory_bytes: usize,
    /// The bytes of removed text that can be [retrieved](crate::Fitter::retrieve).
    pub archive_bytes: usize,
    /// The key of the hashes that conversations are recognised by: with random bytes, who sees the hashes cannot guess texts
    /// by them. It does not keep people apart: [`retrieve`](crate::Fitter::retrieve) returns removed text of any conversation to a
    /// caller that knows the handle. People who do not trust each other need a fitter each.
    pub secret: [u8; 32],
    /// The changes that the host can make to its list: the result has no other. Decisions that were made for another host
    /// do not count.
    pub host: HostChanges,
    /// Whether each list is the last of its conversation: a compaction reaches the target of the budget as it is. Otherwise
    /// it also leaves room for what comes.
    pub is_last: bool,
}

impl FitOptions {
    /// With a budget of the host's own making, such as [`Runtime::budget_for`](epitome::Runtime::budget_for) a model: nothing
    /// changes below its thresholds.
    pub fn for_budget(budget: Budget) -> Self {
        Self {
            budget,
            conversations: CONVERSATIONS,
            memory_bytes: MEMORY_BYTES,
            archive_bytes: ARCHIVE_BYTES,
            secret: [0; 32],
            host: HostChanges::Any,
            is_last: false,
        }
    }

    /// For lists that grow: messages, system prompt and tools together take at most so many tokens. Once they reach them, a
    /// compaction makes room down to half of them, so that the next one is far away and the provider's prompt cache lives
    /// until then.
    pub fn within(tokens: Tokens) -> Self {
        Self::for_budget(to_budget(tokens, 0.5))
    }

    /// For a list that is fitted once: as much of it stays as so many tokens hold.
    pub fn once(tokens: Tokens) -> Self {
        Self { is_last: true, ..Self::for_budget(to_budget(tokens, 1.0)) }
    }
}

fn to_budget(tokens: Tokens, target: f64) -> Budget {
    let all = Threshold::Share(1.0);
    let target = Threshold::Share(target);
    Budget { window: tokens, reserve_output: 0, tool_definitions: 0, soft: all, hard: all, target }
}
