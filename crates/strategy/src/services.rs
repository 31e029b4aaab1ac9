//! The injected services: token counter, summarizer, archive.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use epitome_session::{Language, Message};
use thiserror::Error;

use crate::plan::SummaryRequest;

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

/// A future on the heap, as the asynchronous services return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Everything a summarizer needs for one summary.
#[derive(Debug)]
pub struct SummaryTask<'a> {
    /// The messages to be replaced, as they were recorded, oldest first; summaries of earlier compactions are among them.
    pub messages: &'a [Arc<Message>],
    /// What the strategy asked for.
    pub request: &'a SummaryRequest,
    /// The language to write in.
    pub language: Language,
    /// Counts the result.
    pub counter: &'a dyn TokenCounter,
}

/// A finished summary and what it cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Tokens a model read for it; 0 without a model.
    pub input_tokens: u64,
    /// Tokens a model wrote for it; 0 without a model.
    pub output_tokens: u64,
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SummarizeError {
    /// What happened, for a person.
    pub message: String,
    /// Whether trying again later may help.
    pub retryable: bool,
}

/// Writes summaries. The engine is its only caller; a failure is recorded and never fails a compaction.
pub trait Summarizer: Send + Sync + Debug {
    /// Its kind as reports name it: `rules`, `llm`.
    fn kind(&self) -> &str;
    /// Writes one summary of at most `task.request.max_tokens` tokens.
    fn summarize<'a>(&'a self, task: &'a SummaryTask<'a>) -> BoxFuture<'a, Result<Summary, SummarizeError>>;
}

/// Something that left the context.
#[derive(Debug, Clone, PartialEq)]
pub enum Archived {
    /// The original text of a block, or the arguments of a call.
    Text(Arc<str>),
    /// Whole messages.
    Messages(Vec<Arc<Message>>),
}

/// Why the archive did not take or give something.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the archive failed: {0}")]
pub struct ArchiveError(pub String);

/// Keeps what leaves the context, so that it can be brought back.
pub trait Archive: Send + Debug {
    /// Stores `item` and returns its handle: short, printable, the same for the same content.
    fn put(&mut self, item: Archived) -> Result<Arc<str>, ArchiveError>;
    /// What was stored under `handle`, or `None`.
    fn get(&self, handle: &str) -> Result<Option<Archived>, ArchiveError>;
}
