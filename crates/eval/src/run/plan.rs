//! The plan of a run: its cases, methods and settings.

use std::path::PathBuf;
use std::sync::Arc;

use crate::BudgetSpec;
use crate::cases::case::CaseOptions;
use crate::cases::select::Filter;
use crate::figures::row::Row;
use crate::run::method::Method;

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subject {
    /// The agent's actions behind the cut show what it needed.
    #[default]
    Future,
    /// Sessions cut where the agent itself compacted: its own summary beside the methods at the same size.
    Recorded,
    /// Folders of probes: questions with facts that the continuation needed.
    Probes,
}

/// The plan of a run.
#[derive(Debug)]
pub struct Plan {
    /// The kind of the run.
    pub subject: Subject,
    /// Files and folders; a folder means every file in it.
    pub paths: Vec<PathBuf>,
    /// The methods, in the order of the tables.
    pub methods: Vec<Arc<Method>>,
    /// The budgets.
    pub budgets: Vec<BudgetSpec>,
    /// The cuts, and which parts of a session count.
    pub cuts: Vec<CaseOptions>,
    /// The filter for cases.
    pub filter: Filter,
    /// How many sessions are drawn; all of them without it.
    pub sample: Option<usize>,
    /// The seed of the draws.
    pub seed: u64,
}

/// Receives the progress of a run: files done, of how many, and the new rows.
pub type Progress<'a> = &'a (dyn Fn(usize, usize, &[Row]) + Sync);
