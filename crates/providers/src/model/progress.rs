//! The progress of a summary.

use std::fmt;
use std::sync::Arc;

/// A step while a summary is written, and the cost so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelProgress {
    /// The step.
    pub step: ModelStep,
    /// Tokens that the model read for this summary so far.
    pub input_tokens: u64,
    /// Tokens that it wrote for it so far.
    pub output_tokens: u64,
}

/// A step on the way to a summary.
///
/// A session that fits one request is one part. Otherwise its parts are summarised, and the summaries are merged by further
/// requests, which count as parts as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelStep {
    /// A request for a part was sent.
    Started {
        /// Which part, from 1.
        part: u32,
        /// The number of parts, as far as is known now.
        of: u32,
    },
    /// A part is done.
    Done {
        /// Which part, from 1.
        part: u32,
        /// The number of parts, as far as is known now.
        of: u32,
        /// Whether the answer came from the cache, without a request.
        from_cache: bool,
    },
    /// The answer for a part could not be used; the model is asked again.
    Retry {
        /// Which part, from 1.
        part: u32,
        /// The problem.
        reason: String,
    },
    /// The model's window is smaller than it said: all over again with half as much in each part.
    Smaller {
        /// Tokens of the session that a part holds at most from now on.
        part_tokens: u32,
    },
}

/// The listener for progress.
#[derive(Clone)]
pub(super) struct Progress(pub(super) Arc<dyn Fn(ModelProgress) + Send + Sync>);

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Progress")
    }
}
