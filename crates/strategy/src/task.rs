//! What kind of task a session is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::view::View;

/// The kinds of task that chains are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// Code is written or changed.
    Code,
    /// Material is searched, read and weighed; nothing is changed.
    Analysis,
    /// People and the model talk; tools play a small part.
    Conversation,
    /// Several of these in one session.
    Mixed,
    /// Too little to tell.
    #[default]
    Unknown,
}

impl TaskKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Code, Self::Analysis, Self::Conversation, Self::Mixed, Self::Unknown];

    /// The kind's lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Analysis => "analysis",
            Self::Conversation => "conversation",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for TaskKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| format!("`{name}` is no task kind: code, analysis, conversation, mixed, unknown"))
    }
}

/// A detector's answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    /// The kind.
    pub kind: TaskKind,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// What it rests on, one line each, for a person.
    pub evidence: Vec<String>,
}

/// Tells what kind of task a session is.
pub trait TaskDetector: Send + Sync + fmt::Debug {
    /// The verdict on a view. Linear in the view, deterministic.
    fn detect(&self, view: &View<'_>) -> Verdict;
}
