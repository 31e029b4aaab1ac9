//! The events of a compaction while it is worked out, for observers.

use std::fmt::Debug;

use epitome_strategy::Tokens;

use crate::report::Step;

/// An event of a compaction that is being worked out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress<'a> {
    /// A strategy is asked for a plan.
    Strategy {
        /// The strategy's id.
        id: &'a str,
        /// Tokens of the view.
        tokens: Tokens,
    },
    /// A strategy, or a stage of the engine, has ended.
    Step(&'a Step),
    /// Summaries are being written.
    Summaries {
        /// How many are requested at once.
        count: usize,
        /// How many messages they will replace.
        messages: usize,
    },
    /// One of them is written, or failed.
    Summary {
        /// Tokens that a model read for it.
        input_tokens: u64,
        /// Tokens that a model wrote for it.
        output_tokens: u64,
        /// Why it failed, or why another summarizer wrote it.
        problem: Option<&'a str>,
    },
}

/// Receives the events of a compaction. Called on the thread that works, so it should return at once. In a tournament
/// the candidates' steps come from several threads.
pub trait Observer: Send + Sync + Debug {
    /// Receives one event.
    fn on(&self, progress: Progress<'_>);
}
