//! The injected services: token counter, summarizer, embedder, archive.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use epitome_session::{Language, Message, Session, SummaryCheck};
use thiserror::Error;

use crate::plan::SummaryRequest;
use crate::refusals::Refusals;

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
    /// The messages that the summary tells of, as they were recorded, oldest first; summaries of earlier compactions are
    /// among them. They are those that it replaces, unless the request names others.
    pub messages: &'a [Arc<Message>],
    /// The session that they are of, as it was before the compaction; `None` where nothing but the messages is known.
    pub session: Option<&'a Session>,
    /// What the strategy asked for.
    pub request: &'a SummaryRequest,
    /// What is known from elsewhere and bears on the session, the most important first: it belongs into the summary.
    pub memories: &'a [String],
    /// The language to write in.
    pub language: Language,
    /// Counts the result.
    pub counter: &'a dyn TokenCounter,
}

/// A finished summary and what it cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Tokens a model read for it; 0 without a model.
    pub input_tokens: u64,
    /// Those of them that came out of the provider's cache; 0 where it does not say.
    pub cached_tokens: u64,
    /// Tokens a model wrote for it; 0 without a model.
    pub output_tokens: u64,
    /// Why another summarizer than the one that was asked wrote it, where one did.
    pub fell_back: Option<String>,
    /// What the check against the session found, where it was checked.
    pub check: Option<SummaryCheck>,
}

/// Why there is no summary, and what was paid all the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Error)]
#[error("{message}")]
pub struct SummarizeError {
    /// What happened, for a person.
    pub message: String,
    /// Whether trying again later may help.
    pub retryable: bool,
    /// Tokens a model read for answers that could not be used; 0 without a model.
    pub input_tokens: u64,
    /// Tokens a model wrote in them; 0 without a model.
    pub output_tokens: u64,
}

impl SummarizeError {
    /// An error that has cost nothing.
    pub fn new(message: impl Into<String>, retryable: bool) -> Self {
        Self { message: message.into(), retryable, ..Self::default() }
    }
}

/// Writes summaries. The engine is its only caller; a failure is recorded and never fails a compaction.
pub trait Summarizer: Send + Sync + Debug {
    /// Its kind as reports name it: `rules`, `llm`.
    fn kind(&self) -> &str;
    /// Writes one summary of at most `task.request.max_tokens` tokens.
    fn summarize<'a>(&'a self, task: &'a SummaryTask<'a>) -> BoxFuture<'a, Result<Summary, SummarizeError>>;
    /// The same for one session, which remembers in `refusals` who gave no summary of it; `None` for one that has nothing to
    /// remember.
    fn for_session(&self, refusals: &Refusals) -> Option<Arc<dyn Summarizer>> {
        let _ = refusals;
        None
    }
}

/// Vectors of texts, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    dimensions: usize,
    values: Vec<f32>,
}

impl Embeddings {
    /// Vectors of `dimensions` numbers each, one after the other in `values`; numbers beyond the last whole vector are
    /// left out. Each vector has the length 1, or is all zeros where the text says nothing that the embedder knows.
    pub fn new(dimensions: usize, mut values: Vec<f32>) -> Self {
        values.truncate(values.len().checked_div(dimensions).unwrap_or(0) * dimensions);
        Self { dimensions, values }
    }

    /// How many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimensions).unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The vector of the text at `index`, or `None`.
    pub fn row(&self, index: usize) -> Option<&[f32]> {
        self.values.get(index * self.dimensions..(index + 1) * self.dimensions).filter(|row| !row.is_empty())
    }

    /// All numbers, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How near two vectors are: their cosine, 1 for the same direction, 0 for nothing in common or a vector of zeros.
    pub fn similarity(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(left, right)| left * right).sum()
    }
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EmbedError {
    /// What happened, for a person.
    pub message: String,
    /// Whether trying again later may help.
    pub retryable: bool,
}

/// Turns texts into vectors whose nearness is nearness of meaning. The engine is its only caller; a failure is recorded,
/// strategies that need vectors decline, and the compaction goes on.
pub trait Embedder: Send + Sync + Debug {
    /// Its name with the model and its version: vectors of one name can be compared and kept.
    fn name(&self) -> &str;
    /// How many numbers a vector has; 0 where only the first answer tells.
    fn dimensions(&self) -> usize;
    /// The vectors of `texts`, in their order. Texts may be of any length; an embedder reads as much of each as it can.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Embeddings, EmbedError>>;
}

/// Something that left the context.
#[derive(Debug, Clone, PartialEq)]
pub enum ArchivedContent {
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
    fn put(&mut self, item: ArchivedContent) -> Result<Arc<str>, ArchiveError>;
    /// What was stored under `handle`, or `None`.
    fn get(&self, handle: &str) -> Result<Option<ArchivedContent>, ArchiveError>;
}
