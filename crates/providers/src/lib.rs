//! Summarizers, chat models and embedders, and the client for services over HTTP.
//!
//! [`RuleSummarizer`] writes summaries without a model: no network, no waiting, the same text for the same messages.
//! [`ModelSummarizer`](model::ModelSummarizer) has them written by a [chat model](chat::ChatModel).
//! [`EmbedderChoice`] makes an embedder out of settings.

pub mod chat;
mod embedders;
pub mod http;
pub mod model;
pub mod process;
mod rules;

#[cfg(feature = "fastembed")]
pub use embedders::FastembedEmbedder;
#[cfg(feature = "http")]
pub use embedders::OpenAiEmbedder;
pub use embedders::{
    CacheSettings, CachedEmbedder, EmbedderChoice, EmbedderError, FastembedPooling, FastembedSettings, OpenAiSettings,
};
#[cfg(feature = "embeddings")]
pub use epitome_embeddings::StaticEmbedder;
pub use rules::RuleSummarizer;
