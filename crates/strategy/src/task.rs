//! The kinds of task.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::view::View;

crate::named! {
    /// The kinds of task that decide the chain.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum TaskKind {
        /// Code is written or changed.
        Code = "code",
        /// Material is searched, read and weighed; nothing is changed.
        Analysis = "analysis",
        /// People and the model talk; tools play a small part.
        Conversation = "conversation",
        /// Several of these in one session.
        Mixed = "mixed",
        /// Too little is known.
        #[default]
        Unknown = "unknown",
    }
}

/// A detector's answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// The kind.
    pub kind: TaskKind,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// The evidence, one line each, for a person.
    pub evidence: Vec<String>,
}

/// Detects a session's kind of task.
pub trait TaskDetector: Send + Sync + fmt::Debug {
    /// Returns the verdict on a view. Linear in the view, deterministic.
    fn detect(&self, view: &View<'_>) -> Verdict;
}
