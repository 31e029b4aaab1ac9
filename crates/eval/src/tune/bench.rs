//! The cases on which candidates are measured.

use super::candidate::Candidate;
use crate::EvalError;
use crate::figures::score::Scores;

/// A case as the search sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TuneCase {
    /// Its identity.
    pub key: String,
    /// The kind of task, by which its chain is chosen.
    pub kind: String,
}

/// Cases, and the measurement of candidates on them.
pub trait Bench: Sync {
    /// Returns the cases, always in the same order.
    fn cases(&self) -> Vec<TuneCase>;

    /// Returns the default chain of a kind of task, where the search starts; empty where it is not known.
    fn default_chain(&self, kind: &str) -> Vec<String>;

    /// Returns the scores of a candidate on each of the cases with these `numbers`: one for each budget.
    fn measure(&self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Scores>>, EvalError>;

    /// Returns the values that are tried for a setting beside `now`, or beside its default; empty where there are none.
    fn values(&self, setting: &str, now: Option<&epitome::strategy::Value>) -> Vec<epitome::strategy::Value>;
}
