//! What is said of a context: the figures, with what they are of.

use std::path::PathBuf;

use epitome::context::ContextReport;
use serde::Serialize;

use crate::window::WindowSource;

/// The output of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct ContextOutput {
    /// The session's file; `-` for standard input.
    pub(crate) file: PathBuf,
    /// The arguments by which another command reads the session, for a shell; `None` where it was piped in.
    #[serde(skip)]
    pub(crate) reading: Option<String>,
    /// The file's format.
    pub(crate) format: &'static str,
    /// The session's id, where it has one.
    pub(crate) session: Option<String>,
    /// The model that the session names last.
    pub(crate) model: Option<String>,
    /// What the window is known by.
    pub(crate) window: WindowSource,
    /// The figures.
    #[serde(flatten)]
    pub(crate) report: ContextReport,
}
