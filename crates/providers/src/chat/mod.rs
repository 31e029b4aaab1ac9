//! Chat models behind one small interface: one system text, one user text, one answer.
//!
//! [`ChannelSettings::open`] gives the model of a service over HTTP. [`is_context_overflow`] knows how services say that a
//! request is too long.

#[cfg(feature = "http")]
mod anthropic;
mod channel;
mod compaction;
#[cfg(feature = "http")]
mod openai;
mod overflow;
#[cfg(feature = "http")]
mod service;
mod thoughts;
#[cfg(feature = "http")]
mod wire;
#[cfg(feature = "http")]
mod within;

use std::fmt::Debug;

use epitome_strategy::{BoxFuture, Tokens};
use thiserror::Error;

pub use channel::{ChannelError, ChannelKind, ChannelSettings, KeySource};
pub use compaction::{Compaction, CompactionRequest};
#[cfg(feature = "http")]
pub use compaction::{
    CompactionForm, CompactionOffer, CompactionReading, compact_within, is_compaction_unknown, read_compaction,
};
pub use overflow::{Overflow, is_context_overflow};
pub(crate) use thoughts::without_thoughts;
#[cfg(feature = "http")]
pub use within::{AskWithinError, Wire, ask_within, read_answer, refusal_text};

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// Who the model is and what it has to do.
    pub system: String,
    /// What it has to work on.
    pub user: String,
    /// Tokens that the answer may take.
    pub max_tokens: Tokens,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It had said everything.
    End,
    /// It ran out of tokens: the text is cut off.
    Length,
    /// It called a tool instead of answering, or beside the answer.
    ToolCall,
    /// It refused, or a filter did.
    Refused,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatAnswer {
    /// The text; empty where there is none.
    pub text: String,
    /// Why it ends there.
    pub stop: Stop,
    /// Tokens the model read, as the service reports them; 0 where it does not.
    pub input_tokens: u64,
    /// Those of them that came out of the provider's cache; 0 where it does not say.
    pub cached_tokens: u64,
    /// Tokens the model wrote, as the service reports them; 0 where it does not.
    pub output_tokens: u64,
}

/// Answers one request at a time; many may be under way at once.
pub trait ChatModel: Send + Sync + Debug {
    /// The model's name as the service knows it.
    fn name(&self) -> &str;
    /// What its answers depend on beside the request: two models of the same identity answer alike. The name, unless there
    /// is more to it, such as the service's address.
    fn identity(&self) -> String {
        self.name().to_owned()
    }
    /// Tokens that request and answer may take together.
    fn window(&self) -> Tokens;
    /// What it was asked so far and what that took; zeros where nobody counts.
    fn usage(&self) -> ChatUsage {
        ChatUsage::default()
    }
    /// Asks the model. Dropping the future ends the request.
    fn complete<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatAnswer, ChatError>>;
}

/// What a model was asked since it was opened, and what that took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChatUsage {
    /// Requests, those without an answer included.
    pub requests: u64,
    /// How often the service was asked for them: more than `requests` where something was tried again.
    pub tries: u64,
    /// Tokens read, as the service reported them.
    pub input_tokens: u64,
    /// Tokens written, as the service reported them.
    pub output_tokens: u64,
}

/// Why there is no answer. The message names the address and never the key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ChatError {
    /// What kind of trouble it is.
    pub kind: ChatErrorKind,
    /// What happened, for a person.
    pub message: String,
    /// For a request that is too long, the figures that the service named.
    pub overflow: Option<Overflow>,
    /// Whether every other request would fail in the same way for now: the service cannot be reached or does not answer in
    /// time, or does not know the address, the key or the model.
    pub fails_all: bool,
}

impl ChatError {
    /// An error without figures, which says nothing of other requests.
    pub fn new(kind: ChatErrorKind, message: String) -> Self {
        Self { kind, message, overflow: None, fails_all: false }
    }
}

/// What kind of trouble there was with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatErrorKind {
    /// The request is longer than the model's window: the same with less text may succeed.
    TooLong,
    /// Nobody answered in time, or the service is busy or broken: the same request may succeed later.
    Transient,
    /// The service will not answer this request: no key, a wrong one, an unknown model.
    Rejected,
    /// The answer is not what the service promises.
    Unreadable,
}
