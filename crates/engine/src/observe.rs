//! What happens while a compaction is worked out, for those who want to watch.

use std::fmt::Debug;

use epitome_strategy::Tokens;

use crate::report::Step;

/// Something that happened while a compaction was worked out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress<'a> {
    /// A strategy is asked for a plan.
    Strategy {
        /// Its id.
        id: &'a str,
        /// Tokens of the view.
        tokens: Tokens,
    },
    /// A strategy, or a stage of the engine, is done.
    Step(&'a Step),
    /// Summaries are being written.
    Summaries {
        /// How many are asked for at once.
        count: usize,
        /// Messages that they will stand for.
        messages: usize,
    },
    /// One of them is written, or failed.
    Summary {
        /// Tokens a model read for it.
        input_tokens: u64,
        /// Tokens a model wrote for it.
        output_tokens: u64,
        /// Why there is none, or why another summarizer wrote it.
        problem: Option<&'a str>,
    },
}

/// Is told what happens while a compaction is worked out. Called on the thread that works: it should return at once. In
/// a tournament the candidates' steps come from several threads.
pub trait Observer: Send + Sync + Debug {
    /// Something happened.
    fn on(&self, progress: Progress<'_>);
}
