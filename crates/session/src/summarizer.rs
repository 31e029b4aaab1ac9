//! What an epoch remembers of its summaries: who wrote them, and what was found when they were held against the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What was found when a model's summary was held against the session's log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SummaryCheck {
    /// Paths, identifiers, numbers, commands and quotations of the summary that were looked up in the session.
    pub strings: u32,
    /// Those that the session does not hold. The summary marks each as unverified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Demands of the user in what the summary tells of.
    pub demands: u32,
    /// Those that the model had left out, and that rules added word for word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_demands: Vec<String>,
    /// Files that calls changed in what the summary tells of.
    pub files: u32,
    /// Those that the model had left out, and that rules added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_files: Vec<String>,
    /// Demands and files that neither the model nor the rules found room for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What was wrong with the model's first answer, where it was asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_again: Option<String>,
}

/// What became of the summaries of a compaction that a model was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummarizerRecord {
    /// Who was asked, as reports name it: `llm`.
    pub kind: Arc<str>,
    /// Whether another summarizer stepped in for it.
    pub fell_back: bool,
    /// Why it did, or why there is no summary; the first such problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was found when each summary that a model wrote was held against the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SummaryCheck>,
}
