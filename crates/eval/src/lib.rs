//! Compaction measured on recorded sessions, without a model.
//!
//! A session is cut where half of its tokens are spent. Each [`Method`] compacts the part before the cut to each
//! budget; the agent's real actions behind the cut show what it needed. `docs/evaluation.md` defines every figure. A
//! survival figure is an upper bound on what a model will remember, never an accuracy.
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
pub mod lake;
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
mod session_rows;
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
pub use session_rows::shown_probes;
pub use sheet::{ORDER, Sheet, SheetCell, Verdict, by_family, figure, measured_metrics, signed};
pub use summary::{Average, MisplacedLines, Summary, summaries};

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
    #[error("{file}: {problem}")]
    Prices {
        /// The file.
        file: String,
        /// The problem.
        problem: String,
    },
    /// A folder of probes cannot be used.
    #[error("{file}: {problem}")]
    Probes {
        /// The file or folder.
        file: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// A table of sessions cannot be used.
    #[error("{file} {problem}")]
    Lake {
        /// The file.
        file: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// The needed strings of a case are too many for a search.
    #[error("the strings of a case cannot be sought: {0}")]
    Patterns(String),
}
