//! The injected services: token counter, summarizer, embedder, archive.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use epitome_session::{Language, Media, Message, Session, SummaryCheck, SummaryUsage};
use thiserror::Error;

use crate::media::MediaRates;
use crate::model_backoff::ModelBackoff;
use crate::plan::SummaryRequest;

/// A number of tokens.
pub type Tokens = u32;

/// Counts the tokens of a text.
///
/// Counts are additive per block: the engine counts each block once, on its own, and adds.
pub trait TokenCounter: Send + Sync + Debug {
    /// Returns the counter's name as reports and configuration spell it, such as `o200k_base`.
    fn name(&self) -> &str;
    /// Returns the tokens of `text`; 0 for an empty text. Linear in the text.
    fn count(&self, text: &str) -> Tokens;
    /// Whether [`count`](Self::count) returns the provider's own figure and not an estimate.
    fn is_exact(&self) -> bool;

    /// Returns the tokens of media. Constant time for images, sounds and films, linear in documents.
    fn media_tokens(&self, media: &Media) -> Tokens {
        MediaRates::default().tokens(media)
    }

    /// Returns how far a provider's own figure of a context may be above this counter's, as a share of it: a budget is kept
    /// with that much to spare. 0 for a counter whose figures are the provider's.
    fn margin(&self) -> f64 {
        0.0
    }

    /// Returns the counter for the sessions of a model, where this one stands for a choice by the model; `None` where it
    /// counts alike for all.
    fn of_model(&self, _model: Option<&str>) -> Option<Arc<dyn TokenCounter>> {
        None
    }
}

/// Counts nothing: for views whose tokens do not matter.
#[derive(Debug)]
pub struct ZeroCounter;

impl TokenCounter for ZeroCounter {
    fn name(&self) -> &str {
        "none"
    }

    fn count(&self, _: &str) -> Tokens {
        0
    }

    fn media_tokens(&self, _: &Media) -> Tokens {
        0
    }

    fn is_exact(&self) -> bool {
        false
    }
}

/// A future on the heap, as the asynchronous services return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Everything that a summarizer needs for one summary.
#[derive(Debug)]
pub struct SummaryTask<'a> {
    /// The messages that the summary covers, as they were recorded, oldest first, with summaries of earlier compactions
    /// among them. They are those that it replaces, unless the request names others.
    pub messages: &'a [Arc<Message>],
    /// Their session as it was before the compaction; `None` where only the messages are known.
    pub session: Option<&'a Session>,
    /// The strategy's request.
    pub request: &'a SummaryRequest,
    /// The language of the summary.
    pub language: Language,
    /// The counter for the length of the result.
    pub counter: &'a dyn TokenCounter,
}

/// A finished summary and its cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Whether its lines are those of the messages, with the marks of who said them, as `epitome-reading` writes both; marks at the
    /// beginning of lines of any other text are escaped.
    pub is_of_lines: bool,
    /// What models took for it; nothing without a model.
    pub usage: SummaryUsage,
    /// Why another summarizer than the configured one wrote it, where one did.
    pub fell_back: Option<String>,
    /// The result of the check against the session, where it was checked.
    pub check: Option<SummaryCheck>,
}

/// Why there is no summary, and what the failed attempts cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Error)]
#[error("{message}")]
pub struct SummarizeError {
    /// What went wrong, for a person.
    pub message: String,
    /// Whether trying again later may help.
    pub retryable: bool,
    /// What models took for requests without an answer, and for answers that cannot be used; nothing without a model.
    pub usage: SummaryUsage,
}

impl SummarizeError {
    /// Returns an error that has cost nothing.
    pub fn new(message: impl Into<String>, retryable: bool) -> Self {
        Self { message: message.into(), retryable, ..Self::default() }
    }
}

/// Writes summaries. The engine is its only caller; a failure is recorded and never fails a compaction.
#[async_trait]
pub trait Summarizer: Send + Sync + Debug {
    /// Returns its kind as reports name it: `rules`, `llm`.
    fn kind(&self) -> &str;
    /// Writes one summary of at most `task.request.max_tokens` tokens.
    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError>;
    /// Returns the same summarizer for one session, which records in `backoff` the models that gave no summary of it;
    /// `None` for a summarizer without anything to record.
    fn for_session(&self, backoff: &ModelBackoff) -> Option<Arc<dyn Summarizer>> {
        let _ = backoff;
        None
    }
}

/// Vectors of texts, in one list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    dimensions: usize,
    values: Vec<f32>,
}

impl Embeddings {
    /// Returns vectors of `dimensions` numbers each, which follow each other in `values`; numbers beyond the last whole
    /// vector are left out. Each vector has the length 1, or is all zeros where the embedder knows nothing in the text.
    pub fn new(dimensions: usize, mut values: Vec<f32>) -> Self {
        values.truncate(values.len().checked_div(dimensions).unwrap_or(0) * dimensions);
        Self { dimensions, values }
    }

    /// Returns how many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns how many vectors there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimensions).unwrap_or(0)
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the vector of the text at `index`, or `None`.
    pub fn row(&self, index: usize) -> Option<&[f32]> {
        self.values.get(index * self.dimensions..(index + 1) * self.dimensions).filter(|row| !row.is_empty())
    }

    /// Returns all numbers, vector by vector.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns how near two vectors are: their cosine, 1 for the same direction, 0 for nothing in common or a vector of
    /// zeros.
    pub fn similarity(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(left, right)| left * right).sum()
    }
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EmbedError {
    /// What went wrong, for a person.
    pub message: String,
    /// Whether trying again later may help.
    pub retryable: bool,
}

/// Turns texts into vectors whose nearness is nearness of meaning. The engine is its only caller; where it fails, the
/// failure is recorded, strategies that need vectors decline, and the compaction continues.
#[async_trait]
pub trait Embedder: Send + Sync + Debug {
    /// Returns its name with the model and its version: vectors of one name can be compared and kept.
    fn name(&self) -> &str;
    /// Returns how many numbers a vector has; 0 where only the first answer shows it.
    fn dimensions(&self) -> usize;
    /// Returns the vectors of `texts`, in their order. Texts may be of any length; an embedder reads as much of each as
    /// it can.
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError>;
}

/// An item that left the context.
#[derive(Debug, Clone, PartialEq)]
pub enum ArchivedContent {
    /// The original text of a block, or the arguments of a call.
    Text(Arc<str>),
    /// Whole messages.
    Messages(Vec<Arc<Message>>),
}

/// Why the archive did not store or return an item.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the archive failed: {0}")]
pub struct ArchiveError(pub String);

/// Keeps what leaves the context, so that it can be brought back.
pub trait Archive: Send + Debug {
    /// Stores `item` and returns its handle: short, printable, the same for the same content.
    fn put(&mut self, item: ArchivedContent) -> Result<Arc<str>, ArchiveError>;
    /// Returns the item that was stored under `handle`, or `None`.
    fn get(&self, handle: &str) -> Result<Option<ArchivedContent>, ArchiveError>;
}
