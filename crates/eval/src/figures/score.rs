//! The figures of a result.

use epitome::formats::{Wire, render, validate};
use epitome::session::{Entry, Role};
use serde::{Deserialize, Serialize};

use crate::cases::case::Case;
use crate::cases::cut::tokens_of;
use crate::cases::probes::ProbeScores;
use crate::cases::text::{append, conversation, shown_messages, system};
use crate::figures::kept::KeptCount;

/// The figures of one result. `docs/evaluation.md` defines each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scores {
    /// Future-reference recall.
    pub frr: KeptCount,
    /// Future-reference recall with the binding.
    pub bound_frr: KeptCount,
    /// Lines that later edits must match.
    pub quotes: KeptCount,
    /// Files written in the prefix that are still named.
    pub files: KeptCount,
    /// Demands of the user, verbatim.
    pub rules: KeptCount,
    /// Questions whose facts the result shows.
    #[serde(default, skip_serializing_if = "ProbeScores::is_none")]
    pub probes: ProbeScores,
    /// Tokens of the result and those of its budget, where the prefix had more than the budget.
    #[serde(default, skip_serializing_if = "KeptCount::is_none")]
    pub fill: KeptCount,
    /// Tokens of the result by the exact counter.
    pub tokens: u32,
    /// Whether these are more than the budget.
    pub over_budget: bool,
    /// The first rule of the provider that the result breaks.
    pub violation: Option<String>,
    /// Whether the system prompt is what it was, byte for byte.
    pub system_intact: bool,
    /// Tokens of the prefix in front of the first changed message.
    pub unchanged_tokens: u32,
    /// Tokens of the prefix, already sent, from the first changed message on.
    pub cache_loss_tokens: u32,
}

impl Scores {
    /// Whether the result is usable: within the budget, valid, the system prompt intact.
    pub fn is_usable(&self) -> bool {
        !self.over_budget && self.violation.is_none() && self.system_intact
    }

    /// Returns the scores with nothing kept: those of a method that failed.
    pub(crate) fn with_nothing_kept(self) -> Self {
        let none = |kept: KeptCount| KeptCount { kept: 0, ..kept };
        Self {
            frr: none(self.frr),
            bound_frr: none(self.bound_frr),
            quotes: none(self.quotes),
            files: none(self.files),
            rules: none(self.rules),
            probes: self.probes.with_nothing_kept(),
            fill: none(self.fill),
            ..Self::default()
        }
    }
}

impl Case {
    /// Measures a result, a view in order, and returns its figures. Linear in it.
    pub fn score(&self, result: &[Entry], budget: u32) -> Scores {
        let text = conversation(shown_messages(result));
        let (present, bound) = self.continuation.needed.survive(&text);
        let tokens = result.iter().map(|entry| tokens_of(&entry.message)).sum();
        let before = self.prefix.view();
        let unchanged = before.iter().zip(result).take_while(|(old, new)| reads_the_same(old, new)).count();
        let unchanged_tokens = self.tokens[..unchanged].iter().sum();
        Scores {
            frr: KeptCount::count(&present),
            bound_frr: KeptCount::count(&bound),
            quotes: KeptCount::count(&self.continuation.quotes.present(&text)),
            files: KeptCount::count(&self.continuation.files.present(&text)),
            rules: KeptCount::count(&self.continuation.instructions.present(&text)),
            probes: ProbeScores::default(),
            fill: if self.prefix_tokens > budget {
                KeptCount { kept: tokens, of: budget }
            } else {
                KeptCount::default()
            },
            tokens,
            over_budget: tokens > budget,
            violation: violation(result, self.prefix.tools.as_deref()),
            system_intact: system(shown_messages(result)) == self.system,
            unchanged_tokens,
            cache_loss_tokens: self.prefix_tokens - unchanged_tokens,
        }
    }
}

/// Whether two messages are equal to a model. An outside method returns them without the additions of a format.
pub(crate) fn reads_the_same(old: &Entry, new: &Entry) -> bool {
    let text = |entry: &Entry| {
        let mut text = String::new();
        append(&entry.message, &mut text);
        text
    };
    old.message.role == new.message.role && text(old) == text(new)
}

/// Returns the first rule that a view breaks: unchanged, before rendering repairs anything, and as it is sent to
/// Anthropic.
pub(crate) fn violation(entries: &[Entry], tools: Option<&str>) -> Option<String> {
    let as_it_stands = broken_pair(entries).or_else(|| wrong_start(entries));
    as_it_stands.or_else(|| {
        let rendered = render(entries, Wire::Anthropic, tools, None);
        validate(&rendered.json, Wire::Anthropic).first().map(ToString::to_string)
    })
}

/// Returns what is wrong where a call's results do not directly follow it, or a result not its call.
fn broken_pair(entries: &[Entry]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for entry in entries {
        let message = &entry.message;
        if message.role == Role::Tool {
            let result = message.blocks.iter().find_map(|block| block.as_result());
            let id = result.map_or("", |result| result.call_id.as_ref());
            match open.iter().position(|call| *call == id) {
                Some(at) => open.remove(at),
                None => return Some(format!("the result {} follows no call of its id", message.id)),
            };
            continue;
        }
        if let Some(call) = open.first() {
            return Some(format!("the call `{call}` has no result directly behind it"));
        }
        open = message.calls().map(|(_, call)| call.id.as_ref()).collect();
    }
    None
}

/// Returns what is wrong where the conversation does not start with the user's side.
fn wrong_start(entries: &[Entry]) -> Option<String> {
    let first = entries.iter().find(|entry| entry.message.role != Role::System)?;
    (first.message.role != Role::User).then(|| format!("the first message is the {}'s", first.message.role.as_str()))
}
