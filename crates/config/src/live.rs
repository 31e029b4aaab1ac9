//! Settings of a live session beside the engine: when it compacts without a request, and what happens around it.

use std::path::Path;

use epitome_engine::{DEFAULT_BOUNDARY_WAIT, Threshold, Triggers};
use epitome_strategy::{FieldKind, SettingType, Value, settings};

use crate::values::{Limit, OnRefusal};

settings! {
    /// `[triggers]`: what starts a compaction beside the thresholds of `[budget]`.
    pub struct TriggersTable {
        /// A compaction is suggested where less than this share of the usable window is left; 0 switches it off.
        remaining_share: f64 = 0.0, in 0..=1, unit "share of the usable window";
        /// A compaction is suggested from this number of tokens on, whatever the window is; 0 switches it off.
        tokens: u32 = 0, in 0..=1_000_000_000, unit "tokens";
        /// A compaction is suggested when this number of rounds has begun since the last one; 0 switches it off.
        rounds: u32 = 0, in 0..=1_000_000, unit "rounds";
        /// A compaction is suggested when the model writes this text; empty switches it off.
        marker: String = "!!!SUMMARY!!!".to_owned();
        /// From `soft` on a compaction waits for the end of a piece of work, an answer, a commit, an item of the plan that is
        /// done, until this share of the way to `hard` is used; 0 waits for nothing.
        boundary_wait: f64 = DEFAULT_BOUNDARY_WAIT, in 0..=1, unit "share of the way from `soft` to `hard`";
    }
}

settings! {
    /// `[live]`: what a host that keeps sessions running does around a compaction.
    pub struct LiveSettings {
        /// Whether a person confirms each compaction before it is made.
        require_confirmation: bool = false;
        /// What follows where a compaction is refused and the session has no room left: `error` says so and changes nothing,
        /// `drop-oldest` lets the oldest messages go without a summary, `new-session` begins one.
        on_refusal: OnRefusal = OnRefusal::Error;
        /// A tool's result of more tokens than this is cut to its most informative lines before it is sent for the first time, which costs no prompt
        /// cache; 0 switches it off. A result of a tenth of the window takes a quarter of the room between `target` and
        /// `soft`: it would bring the next compaction, which does cost the cache, that much nearer.
        arrival_tokens: OptionalThreshold = OptionalThreshold(Some(Threshold::Share(0.1))), unit "share of the usable window, or tokens", is common;
        /// Old results of tools are cleared, and old arguments and texts shortened, below the thresholds too, before a call
        /// of the model, as soon as that saves more than this: what `[strategies.tool-results]` says is old. Each time
        /// the provider's prompt cache is lost from there on: 2 tokens do it at every turn, a share of a twentieth once in a
        /// while; 0 switches it off.
        clear_tokens: OptionalThreshold = OptionalThreshold(None), unit "share of the usable window, or tokens", is common;
        /// The share of the usable window from which on a compaction is made that the model asks for with `compact_context`.
        /// Below it little can leave, and the provider's prompt cache is lost all the same.
        asked_share: f64 = 0.4, in 0..=1, unit "share of the usable window";
        /// A compaction that the model asks for is made only where at least this many calls of the model have passed since the last one: a model
        /// asks too often otherwise.
        asked_calls: u32 = 10, in 0..=100_000, unit "calls of the model";
        /// Whether memories are kept before a compaction: what people say, commands that passed, commits.
        memory_flush: bool = false;
        /// The file that memories are kept in; empty for the host's own store.
        memory_file: String = String::new();
        /// The most memories that a compaction names: those relevant to the current subject.
        recent_memories: u32 = 5, in 0..=1_000, unit "memories";
    }
}

impl LiveSettings {
    /// Returns the file that memories are kept in; `None` for the host's own store.
    pub fn memory_path(&self) -> Option<&Path> {
        Some(Path::new(&self.memory_file)).filter(|path| !path.as_os_str().is_empty())
    }
}

impl From<&TriggersTable> for Triggers {
    fn from(table: &TriggersTable) -> Self {
        Self {
            remaining_share: table.remaining_share,
            tokens: table.tokens,
            rounds: table.rounds,
            marker: table.marker.clone(),
            boundary_wait: table.boundary_wait,
        }
    }
}

/// A threshold, or 0 for none, as `[live] arrival_tokens` and `clear_tokens` spell it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionalThreshold(pub Option<Threshold>);

impl SettingType for OptionalThreshold {
    const KIND: FieldKind = FieldKind::Number;

    fn from_value(value: &Value) -> Result<Self, String> {
        if value.as_f64() == Some(0.0) {
            return Ok(Self(None));
        }
        Limit::from_value(value).map(|limit| Self(Some(limit.0))).map_err(|problem| format!("{problem}; 0 for never"))
    }

    fn to_value(&self) -> Value {
        self.0.map_or_else(|| 0.into(), |threshold| Limit(threshold).to_value())
    }
}
