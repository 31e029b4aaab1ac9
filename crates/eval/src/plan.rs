//! What is measured, and with what.

use std::path::PathBuf;
use std::sync::Arc;

use crate::BudgetSpec;
use crate::case::CaseOptions;
use crate::generations::Generations;
use crate::labels::Labels;
use crate::method::Method;
use crate::row::Row;
use crate::select::Filter;

/// What a run measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subject {
    /// What the agent did behind the cut shows what it needed.
    #[default]
    Future,
    /// Sessions cut where the agent itself compacted: its own summary beside the methods at the same size.
    Recorded,
    /// Folders of probes: questions with facts that the continuation needed.
    Probes,
    /// Chats with questions whose evidence turns are recorded.
    Evidence {
        /// Questions of each chat that are asked with the question as focus.
        questions: usize,
    },
}

/// What is measured.
#[derive(Debug)]
pub struct Plan {
    /// What the run measures.
    pub subject: Subject,
    /// Files and folders; a folder stands for every file in it.
    pub paths: Vec<PathBuf>,
    /// The methods, in the order of the tables.
    pub methods: Vec<Arc<Method>>,
    /// The budgets.
    pub budgets: Vec<BudgetSpec>,
    /// How often each budget is come to besides once.
    pub generations: Vec<Generations>,
    /// For probes: passages that a search may show for each question, alone and beside every method's context.
    pub search: Option<usize>,
    /// The cuts and what is part of a session.
    pub cuts: Vec<CaseOptions>,
    /// Which cases count.
    pub filter: Filter,
    /// Kinds of task by file.
    pub labels: Labels,
    /// Repositories by file, for probes.
    pub repositories: Labels,
    /// How many sessions to draw; all of them without it.
    pub sample: Option<usize>,
    /// The seed of what is drawn.
    pub seed: u64,
    /// Rows of an earlier run: those that were computed from the same are not measured again.
    pub known: Vec<Row>,
}

/// Hears how far a run is: files done, of how many, and the rows that are new since.
pub type Progress<'a> = &'a (dyn Fn(usize, usize, &[Row]) + Sync);
