//! Why an embedder cannot be made.

use std::path::PathBuf;

use thiserror::Error;

#[cfg(feature = "http")]
use crate::http::HttpError;

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
