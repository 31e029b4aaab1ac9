//! The chains that ship.

use epitome_strategy::TaskKind;

/// The chain that ships for a kind of task.
///
/// Work with tools: the exact lines likeliest needed stay, and the newest steps; where there is too little in front of
/// those to extract from, text that is also elsewhere in the context leaves, then text that is cheapest to fetch again,
/// then prose. Conversations have few exact strings: messages that are relevant to the question stay where one is asked, else
/// the newest. `docs/evaluation.md` has the figures behind the order.
pub(crate) fn default_chain(kind: TaskKind) -> &'static [&'static str] {
    match kind {
        TaskKind::Code | TaskKind::Analysis | TaskKind::Mixed | TaskKind::Unknown => {
            &["transcript", "tool-results", "message-truncation", "sliding-window"]
        }
        TaskKind::Conversation => {
            &["vector-retrieval", "transcript", "tool-results", "message-truncation", "sliding-window"]
        }
    }
}

/// The chain that ships for every kind of task where a model writes the summaries.
///
/// The hand-off first, which describes the whole session and replaces little of it; the transcript gets the room beside
/// it and the newest messages, as without a model. The current question is part of the hand-off's prompt.
pub(crate) fn default_llm_chain() -> &'static [&'static str] {
    &["handoff", "transcript", "tool-results", "message-truncation", "sliding-window"]
}
