//! Anthropic's messages.

mod answer;
mod compaction;
mod own_compaction;
mod request;
mod stream;

/// Anthropic's interface.
#[derive(Debug)]
pub(crate) struct Anthropic;

pub use own_compaction::{
    CompactionForm, CompactionReading, answer_tokens, compact_within, is_compaction_unknown, read_compaction,
};
