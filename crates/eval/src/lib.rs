//! Compaction measured on recorded sessions, without a model.
//!
//! A session is cut where half of its tokens are spent. What stands before the cut is compacted by each [`Method`] to
//! each budget; what the agent really did behind the cut shows what it needed. `docs/evaluation.md` defines every figure.
//! A survival figure is an upper bound on what a model will remember, never an accuracy.
//!
//! Folders of probes ([`probes`]) ask instead whether a result can answer what the continuation needed.
//!
//! The metrics have their own notion of an exact string ([`atoms`]) and share no code with the strategies'.

mod atoms;
mod baselines;
mod budget;
mod case;
mod cut;
mod edits;
mod evidence;
mod files;
mod generations;
mod groups;
mod html;
mod instructions;
mod job;
mod kept;
mod labels;
mod markdown;
mod meaning;
mod measure;
mod method;
mod metric;
mod needed;
mod outside;
mod paired;
mod patterns;
mod plan;
pub mod probes;
mod random;
mod recorded;
pub mod replay;
mod resume;
mod row;
mod run;
mod score;
mod select;
mod sheet;
mod summary;
mod text;
pub mod tune;
mod walk;

pub use atoms::atoms;
pub use baselines::Baseline;
pub use budget::BudgetSpec;
pub use case::{Case, CaseId, CaseOptions};
pub use generations::{Generation, GenerationFigure, Generations, Steps, generations, generations_sheet};
pub use groups::{Group, Grouping, groups};
pub use html::report;
pub use kept::KeptCount;
pub use labels::Labels;
pub use markdown::markdown;
pub use meaning::MeaningScores;
pub use measure::{HANDOFF, SEARCH, with_search};
pub use method::{Method, MethodOptions, MethodOutcome, methods};
pub use metric::{Family, Metric};
pub use needed::NeededAtom;
pub use paired::{Difference, RESAMPLES, differences};
pub use plan::{Plan, Progress, Subject};
pub use resume::{Basis, RowReuse};
pub use row::Row;
pub use run::Run;
pub use score::Scores;
pub use select::Filter;
pub use sheet::{ORDER, Sheet, SheetCell, Verdict, by_family, figure, measured_metrics, signed};
pub use summary::{Average, MisplacedLines, Summary, summaries};

use thiserror::Error;

/// Why an evaluation cannot go on.
#[derive(Debug, Error)]
pub enum EvalError {
    /// A file or folder cannot be read.
    #[error("cannot read {file}: {error}")]
    Read {
        /// Which one.
        file: String,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// A method is not what can be run.
    #[error("{0}")]
    Method(String),
    /// A configuration cannot be used.
    #[error("{0}")]
    Config(String),
    /// A price table cannot be used.
    #[error("{file}: {problem}")]
    Prices {
        /// Which one.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A folder of probes cannot be used.
    #[error("{file}: {problem}")]
    Probes {
        /// Which file or folder.
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The needed strings of a case are too many to be sought.
    #[error("the strings of a case cannot be sought: {0}")]
    Patterns(String),
}
