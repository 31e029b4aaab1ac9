//! Summarizers and embedders, and the client for services over HTTP.
//!
//! [`RuleSummarizer`] writes summaries without a model: no network, no waiting, the same text for the same messages.
//! [`EmbedderChoice`] makes an embedder out of settings.

mod embedders;
#[cfg(feature = "http")]
pub mod http;
pub mod process;
mod rules;

#[cfg(feature = "fastembed")]
pub use embedders::FastembedEmbedder;
#[cfg(feature = "http")]
pub use embedders::OpenAiEmbedder;
pub use embedders::{
    CacheSettings, CachedEmbedder, EmbedderChoice, EmbedderError, FastembedPooling, FastembedSettings, OpenAiSettings,
};
pub use epitome_embeddings::StaticEmbedder;
pub use rules::RuleSummarizer;
