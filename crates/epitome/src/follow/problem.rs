//! Why a session cannot be read.

use std::path::Path;

use thiserror::Error;

/// Why a session cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadProblem {
    /// It does not exist, or not yet.
    #[error("{0} is not there")]
    Missing(String),
    /// The file is read, and which of its sessions is meant is not known: it has not the one that is asked for, or has
    /// several, and none is asked for.
    #[error("{0}")]
    Unchosen(String),
    /// It exists and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// The problem of a file that the system does not give.
pub(super) fn io_problem(path: &Path, error: &std::io::Error) -> ReadProblem {
    match error.kind() {
        std::io::ErrorKind::NotFound => ReadProblem::Missing(path.display().to_string()),
        _ => ReadProblem::Unreadable(format!("{} cannot be read: {error}", path.display())),
    }
}
