//! Why an evaluation cannot continue.

use epitome::config::PriceError;
use thiserror::Error;

/// Why an evaluation cannot continue.
#[derive(Debug, Error)]
pub enum EvalError {
    /// A file or folder cannot be read.
    #[error("cannot read {file}: {error}")]
    Read {
        /// The file or folder.
        file: String,
        /// The reason.
        #[source]
        error: std::io::Error,
    },
    /// The method's specification is not valid.
    #[error("{0}")]
    Method(String),
    /// A configuration cannot be used.
    #[error("{0}")]
    Config(String),
    /// A price table cannot be used.
    #[error(transparent)]
    Prices(#[from] PriceError),
    /// A folder of probes cannot be used.
    #[error("{file}: {problem}")]
    Probes {
        /// The file or folder.
        file: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// A model that is to write summaries cannot be asked.
    #[error("{model} writes no summaries: {problem}")]
    Model {
        /// The model and the address of its service.
        model: String,
        /// The reason.
        problem: String,
    },
    /// The needed strings of a case are too many for a search.
    #[error("the strings of a case cannot be sought: {0}")]
    Patterns(String),
}
