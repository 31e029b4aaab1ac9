//! Chat models behind one small interface: one system text, one user text, one answer.
//!
//! [`ChannelSettings::open`] gives the model of a service over HTTP. [`is_context_overflow`] knows how services say that a
//! request is too long.

mod channel;
mod compaction;
mod overflow;
#[cfg(feature = "http")]
mod service;
#[cfg(feature = "http")]
mod within;

use std::fmt::Debug;

use epitome_strategy::{Tokens, async_trait};
use thiserror::Error;

pub use channel::{ChannelError, ChannelKind, ChannelSettings, KeySource};
#[cfg(feature = "http")]
pub use compaction::CompactionOffer;
pub use compaction::{Compaction, CompactionRequest};
pub use epitome_wire::{ChatAnswer, Stop};
pub use overflow::{Overflow, is_context_overflow};
#[cfg(feature = "http")]
pub use within::{read_answer, read_compacted};

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// The system prompt: the model's role and task.
    pub system: String,
    /// The text to work on.
    pub user: String,
    /// Tokens that the answer may take.
    pub max_tokens: Tokens,
}

/// Answers one request at a time; many may be under way at once.
#[async_trait]
pub trait ChatModel: Send + Sync + Debug {
    /// The model's name as the service knows it.
    fn name(&self) -> &str;
    /// The identity on which answers depend beside the request: two models of the same identity answer alike. The name,
    /// unless more matters, such as the service's address.
    fn identity(&self) -> String {
        self.name().to_owned()
    }
    /// Tokens that request and answer may take together.
    fn window(&self) -> Tokens;
    /// Asks the model. Dropping the future ends the request.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError>;
}

/// The reason why there is no answer. The message names the address and never the key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ChatError {
    /// The kind of failure.
    pub kind: ChatErrorKind,
    /// The message for a person.
    pub message: String,
    /// For a request that is too long, the figures that the service named.
    pub overflow: Option<Overflow>,
    /// Whether every other request would fail in the same way for now: the service cannot be reached, does not answer
    /// in time, or rejects the address, the key or the model.
    pub fails_all: bool,
}

impl ChatError {
    /// An error without figures, which says nothing of other requests.
    pub fn new(kind: ChatErrorKind, message: String) -> Self {
        Self { kind, message, overflow: None, fails_all: false }
    }
}

/// The kind of a model's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatErrorKind {
    /// The request is longer than the model's window: the same with less text may succeed.
    TooLong,
    /// Nothing answered in time, or the service is busy or broken: the same request may succeed later.
    Transient,
    /// The service will not answer this request: no key, a wrong one, an unknown model.
    Rejected,
    /// The answer is not what the service promises.
    Unreadable,
}
