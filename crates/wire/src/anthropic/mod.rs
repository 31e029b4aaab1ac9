//! Anthropic's messages.

mod answer;
mod classes;
mod compaction;
mod models;
mod own_compaction;
mod request;
mod stream;

pub use classes::class_of_block;
pub use models::takes_system_among_messages;
pub use own_compaction::{
    CompactionForm, CompactionReading, answer_tokens, compact_within, is_compaction_unknown, read_compaction,
};

/// Anthropic's interface.
#[derive(Debug)]
pub(crate) struct Anthropic;
