//! Compaction measured on recorded sessions, without a model.
//!
//! A session is cut where half of its tokens are spent. Each [`Method`] compacts the part before the cut to each
//! budget; the agent's real actions behind the cut show what it needed. `docs/evaluation.md` defines every figure. A
//! survival figure is an upper bound on what a model will remember, never an accuracy.
//!
//! Folders of probes ([`probes`]) ask instead whether a result can answer what the continuation needed.
//!
//! Each folder is a room: [`bench`](mod@bench) everything of a folder of sessions at once, `cases` what is measured, `figures` what a
//! result is worth, `run` methods on cases, `tables` figures to read, [`replay`] whole sessions turn by turn, [`tune`] the
//! search for chains and settings.
//!
//! The metrics have their own notion of an exact string ([`atoms`]) and share no code with the strategies'.

pub mod bench;
mod cases;
mod error;
mod figures;
pub mod replay;
mod run;
mod tables;
pub mod tune;

pub use cases::atoms::atoms;
pub use cases::budget::BudgetSpec;
pub use cases::case::{Case, CaseId, CaseOptions};
pub use cases::edits::{short_name, written_files};
pub use cases::left_out::{LeftOut, LeftOutReason, left_out_counts};
pub use cases::needed::{NeededAtom, call_atoms, is_plumbing};
pub use cases::patterns::Patterns;
pub use cases::select::Filter;
pub use cases::text::{append, append_arguments, leaves};
pub use cases::{lake, probes};
pub use error::EvalError;
pub use figures::account::{FailureReason, MethodAccount, ModelAccount, accounts};
pub use figures::kept::KeptCount;
pub use figures::metric::{Family, Metric};
pub use figures::paired::{Difference, RESAMPLES, differences};
pub use figures::row::Row;
pub use figures::score::Scores;
pub use figures::summary::{Average, Summary, summaries};
pub use run::baselines::Baseline;
pub use run::measure::HANDOFF;
pub use run::method::{Method, MethodOutcome, methods};
pub use run::outcome::Run;
pub use run::plan::{Plan, Progress, Subject};
pub use tables::accounts::accounts_sheet;
pub use tables::answer::{Answer, answers};
pub use tables::groups::{Group, Grouping, groups};
pub use tables::html::report;
pub use tables::sheet::{Sheet, SheetCell, Verdict, figure, signed};
pub use tables::terms::{BenchSheet, Better, LegendLine, legend};
