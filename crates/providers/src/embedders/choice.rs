//! An embedder out of settings.

use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "embeddings")]
use epitome_embeddings::StaticEmbedder;
use epitome_strategy::Embedder;
use thiserror::Error;

#[cfg(feature = "http")]
use crate::http::HttpError;

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

/// Why an embedder cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EmbedderError {
    /// This build has no such embedder.
    #[error("this build has no embedder `{embedder}`: build it with the cargo feature `{feature}`")]
    NotBuilt {
        /// The embedder that was asked for.
        embedder: &'static str,
        /// The feature that it needs.
        feature: &'static str,
    },
    /// ONNX Runtime's library is nowhere.
    #[error(
        "ONNX Runtime's library was not found; looked for {}; put it there or name it in the settings or in `ORT_DYLIB_PATH`",
        list(looked_at)
    )]
    NoRuntimeLibrary {
        /// Where it was looked for.
        looked_at: Vec<PathBuf>,
    },
    /// ONNX Runtime's library cannot be loaded.
    #[error("ONNX Runtime's library `{}` cannot be loaded: {problem}", path.display())]
    RuntimeLibrary {
        /// The file.
        path: PathBuf,
        /// The system's error.
        problem: String,
    },
    /// A file of the model is missing or cannot be read.
    #[error("the model's `{file}` cannot be read from `{}`: {problem}", directory.display())]
    ModelFile {
        /// The file's name.
        file: String,
        /// The folder.
        directory: PathBuf,
        /// The system's error.
        problem: String,
    },
    /// fastembed has no model of this name.
    #[error("fastembed has no model `{model}`; it has {known}")]
    UnknownModel {
        /// The name.
        model: String,
        /// The names it knows.
        known: String,
    },
    /// The model is not on this machine, and this build does not download.
    #[error(
        "the model `{model}` is not in the cache `{}`: name a folder with its files in the settings, or use a build with the \
         cargo feature `fastembed-download`",
        cache.display()
    )]
    NotInCache {
        /// The model.
        model: String,
        /// Where it was looked for.
        cache: PathBuf,
    },
    /// The service's settings cannot work.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] HttpError),
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
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
