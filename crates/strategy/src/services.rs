//! The injected services: token counter, summarizer, archive.

use std::fmt::Debug;

/// A number of tokens.
pub type Tokens = u32;

/// Counts the tokens of a text.
///
/// Counts are additive per block: the engine counts each block once, on its own, and adds.
pub trait TokenCounter: Send + Sync + Debug {
    /// The counter's name as reports and configuration spell it, such as `o200k_base`.
    fn name(&self) -> &str;
    /// The tokens of `text`; 0 for an empty text. Cost: linear in the text.
    fn count(&self, text: &str) -> Tokens;
    /// Whether [`count`](Self::count) is the provider's own figure and not an estimate.
    fn is_exact(&self) -> bool;
}
