//! What candidates are measured on.

use super::candidate::Candidate;
use super::weights::Figures;
use crate::EvalError;

/// A case as the search sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TuneCase {
    /// What tells it from any other.
    pub key: String,
    /// The kind of task, by which its chain is chosen.
    pub kind: String,
}

/// Cases, and what candidates do on them.
pub trait Bench: Sync {
    /// The cases, always in the same order.
    fn cases(&self) -> Vec<TuneCase>;

    /// The default chain of a kind of task, from which the search may start; empty where it is not known.
    fn default_chain(&self, kind: &str) -> Vec<String>;

    /// What the figures of a candidate hang on besides its name and the case: the version of the figures, and what its
    /// settings come to with their defaults.
    fn basis(&self, candidate: &Candidate) -> Result<String, EvalError>;

    /// The figures of a candidate on each of the cases that `numbers` name: one for each budget.
    fn measure(&self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Figures>>, EvalError>;

    /// The values that are tried for a setting beside `now`, or beside its default; empty where there are none.
    fn values(&self, setting: &str, now: Option<&epitome::strategy::Value>) -> Vec<epitome::strategy::Value>;
}
