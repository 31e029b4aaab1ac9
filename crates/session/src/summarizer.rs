//! What an epoch records of its summaries: who wrote them, and the results of checking them against the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The result of checking a model's summary against the session's log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SummaryCheck {
    /// Paths, identifiers, numbers and commands of the summary that were looked up in the session.
    pub strings: u32,
    /// Those of them that the session does not contain. The summary marks each as unverified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Demands of the user in the messages that the summary covers.
    pub demands: u32,
    /// Those of them that the model had left out and that rules added word for word; also sentences of the newest request
    /// whose exact strings it had left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_demands: Vec<String>,
    /// Files that calls changed in the messages that the summary covers.
    pub files: u32,
    /// Those of them that the model had left out and that rules added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_files: Vec<String>,
    /// Demands and files for which neither the model nor the rules had room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Lines, as the model wrote them, whose state of a file or a command the log contradicts. The summary has the log's, or
    /// a mark behind a deletion that the log does not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrected: Vec<String>,
    /// What was wrong with the model's first answer, where the model was asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub asked_again: Option<String>,
}

/// The outcome of the summaries of a compaction for which a model was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SummarizerRecord {
    /// The configured summarizer, as reports name it: `llm`.
    pub kind: Arc<str>,
    /// Whether another summarizer replaced it.
    pub fell_back: bool,
    /// Why another one did, or why there is no summary; the first such problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub problem: Option<String>,
    /// The results of checking each summary that a model wrote against the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SummaryCheck>,
    /// The numbers, among the epoch's additions, of the summaries that were requested and written, by the model or in its
    /// place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<u32>,
}
