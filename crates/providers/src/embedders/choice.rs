//! An embedder out of settings.

use std::sync::Arc;

#[cfg(feature = "embeddings")]
use epitome_embeddings::StaticEmbedder;
use epitome_strategy::Embedder;

use super::error::EmbedderError;
use super::{CacheSettings, CachedEmbedder, FastembedSettings, OpenAiSettings};

/// Which embedder to use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum EmbedderChoice {
    /// None: strategies that need vectors decline.
    Off,
    /// The table that is compiled in.
    #[default]
    Static,
    /// A neural model on this machine.
    Fastembed(FastembedSettings),
    /// A service with an OpenAI-compatible endpoint.
    OpenAi(OpenAiSettings),
}

impl EmbedderChoice {
    /// The embedder of this choice, or `None` for [`Off`](Self::Off). Reads no more than the names of files and the
    /// environment: a model is loaded, downloaded or asked at the first text. `cache` is put in front of all but the static
    /// table, which is faster than a cache.
    ///
    /// # Errors
    ///
    /// The build lacks the embedder, or its settings cannot work: a file or a key is missing, or an address is not
    /// valid.
    pub fn build(&self, cache: &CacheSettings) -> Result<Option<Arc<dyn Embedder>>, EmbedderError> {
        let embedder: Arc<dyn Embedder> = match self {
            Self::Off => return Ok(None),
            Self::Static => return table().map(Some),
            Self::Fastembed(settings) => local(settings)?,
            Self::OpenAi(settings) => service(settings)?,
        };
        Ok(Some(Arc::new(CachedEmbedder::new(embedder, cache))))
    }
}

#[cfg(feature = "embeddings")]
fn table() -> Result<Arc<dyn Embedder>, EmbedderError> {
    Ok(Arc::new(StaticEmbedder::new()))
}

#[cfg(not(feature = "embeddings"))]
fn table() -> Result<Arc<dyn Embedder>, EmbedderError> {
    Err(EmbedderError::NotBuilt { embedder: "static", feature: "embeddings" })
}

#[cfg(feature = "fastembed")]
fn local(settings: &FastembedSettings) -> Result<Arc<dyn Embedder>, EmbedderError> {
    Ok(Arc::new(super::FastembedEmbedder::new(settings)?))
}

#[cfg(not(feature = "fastembed"))]
fn local(_: &FastembedSettings) -> Result<Arc<dyn Embedder>, EmbedderError> {
    Err(EmbedderError::NotBuilt { embedder: "fastembed", feature: "fastembed" })
}

#[cfg(feature = "http")]
fn service(settings: &OpenAiSettings) -> Result<Arc<dyn Embedder>, EmbedderError> {
    Ok(Arc::new(super::OpenAiEmbedder::new(settings)?))
}

#[cfg(not(feature = "http"))]
fn service(_: &OpenAiSettings) -> Result<Arc<dyn Embedder>, EmbedderError> {
    Err(EmbedderError::NotBuilt { embedder: "openai", feature: "http" })
}
