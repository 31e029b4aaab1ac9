//! What is measured, and what was found: files in parallel, cases in a fixed order.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::case::{CaseId, CaseOptions};
use crate::files::{File, files};
use crate::generations::Generations;
use crate::job::{Job, OfFile};
use crate::labels::Labels;
use crate::method::Method;
use crate::probes::folders;
use crate::random::hash;
use crate::resume::{Known, Resumed};
use crate::row::Row;
use crate::select::Filter;
use crate::{BudgetSpec, EvalError};

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

/// What a run found.
#[derive(Debug, Default)]
pub struct Run {
    /// Every case under every method at every budget: by file, session, cut, budget, method.
    pub rows: Vec<Row>,
    /// Cases that were measured.
    pub cases: usize,
    /// Sessions that were read.
    pub sessions: usize,
    /// Files that are no session, or could not be read, and why.
    pub skipped: Vec<(String, String)>,
    /// What became of the rows of the earlier run.
    pub resumed: Resumed,
}

/// Hears how far a run is: files done, of how many, and the rows that are new since.
pub type Progress<'a> = &'a (dyn Fn(usize, usize, &[Row]) + Sync);

impl Plan {
    /// Runs the plan. Files are worked on in parallel; the rows come in the same order whatever the number of threads.
    pub fn run(&self, progress: Progress<'_>) -> Result<Run, EvalError> {
        let files = if self.subject == Subject::Probes { folders(&self.paths)? } else { files(&self.paths)? };
        let chosen = self.chosen(&files)?;
        let job = Job::new(self, Known::new(&self.known), files.len(), progress);
        let wanted = |id: &CaseId| chosen.as_ref().is_none_or(|chosen| chosen.contains(&session_key(id)));
        let of_files: Vec<Result<OfFile, EvalError>> = files
            .par_iter()
            .map(|file| {
                let result = job.of_file(file, &wanted, true);
                (job.progress)(job.done.fetch_add(1, Ordering::Relaxed) + 1, job.files, &[]);
                result
            })
            .collect();
        let mut run = Run::default();
        for (file, result) in files.iter().zip(of_files) {
            let result = result?;
            run.rows.extend(result.rows);
            run.cases += result.cases;
            run.sessions += result.sessions;
            run.skipped.extend(result.problem.map(|problem| (file.name.clone(), problem)));
        }
        run.resumed = job.known.resumed();
        Ok(run)
    }

    /// The sessions of the sample: those with the smallest hashes under the seed, so that a larger sample holds the
    /// smaller ones. `None` without a sample.
    fn chosen(&self, files: &[File]) -> Result<Option<HashSet<String>>, EvalError> {
        let Some(size) = self.sample else { return Ok(None) };
        let job = Job::new(self, Known::default(), 0, &|_, _, _| {});
        let listed: Vec<Result<OfFile, EvalError>> =
            files.par_iter().map(|file| job.of_file(file, &|_| true, false)).collect();
        let mut keys = Vec::new();
        for found in listed {
            keys.extend(found?.rows.iter().map(|row| session_key(&row.case)));
        }
        keys.sort_unstable();
        keys.dedup();
        keys.sort_by_key(|key| hash(self.seed, key));
        Ok(Some(keys.into_iter().take(size).collect()))
    }
}

fn session_key(id: &CaseId) -> String {
    format!("{}\0{}", id.file, id.session)
}
