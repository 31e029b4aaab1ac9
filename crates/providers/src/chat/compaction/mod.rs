//! A provider's own compaction: the provider gets the conversation as it is, and returns a summary of it.
//!
//! Anthropic offers it in two forms, both in beta, and gives the summary as text: on demand, for any conversation, and
//! at a threshold of tokens, for one that is beyond it. OpenAI's `/responses/compact` gives an encrypted item that only
//! OpenAI can read, so it cannot give a summary.

#[cfg(feature = "http")]
mod offer;
#[cfg(feature = "http")]
mod service;

use std::fmt::Debug;

use epitome_strategy::{Tokens, async_trait};
use serde_json::{Map, Value};

use super::{ChatAnswer, ChatError};

#[cfg(feature = "http")]
pub use offer::CompactionOffer;
#[cfg(feature = "http")]
pub(super) use service::HttpCompaction;

/// A request for a provider's compaction.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionRequest {
    /// The conversation in the provider's format: `messages`, and `system` and `tools` where there are any.
    pub conversation: Map<String, Value>,
    /// Tokens of it, by whatever counter there is.
    pub tokens: Tokens,
    /// The instructions for the summary, in place of the provider's own.
    pub instructions: String,
    /// Tokens that the summary may take.
    pub max_tokens: Tokens,
}

/// A provider that compacts conversations by itself.
#[async_trait]
pub trait Compaction: Send + Sync + Debug {
    /// The model's name as the provider knows it.
    fn name(&self) -> &str;
    /// The identity on which summaries depend beside the request: two of the same identity compact alike.
    fn identity(&self) -> String;
    /// Tokens that conversation and summary may take together.
    fn window(&self) -> Tokens;
    /// The summary, as the text of an answer; an empty text where the provider was paid and gave none. One request, or one
    /// for each form that the provider turns out not to know; a form that it does not know is never asked for again.
    ///
    /// # Errors
    ///
    /// It offers no compaction, or refuses this one, or cannot be reached. Dropping the future ends the request.
    async fn compact(&self, request: &CompactionRequest) -> Result<ChatAnswer, ChatError>;
}
