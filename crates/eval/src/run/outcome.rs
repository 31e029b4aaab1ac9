//! A run of a plan, and its result: files in parallel, cases in a fixed order.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::EvalError;
use crate::cases::case::CaseId;
use crate::cases::files::{File, files};
use crate::cases::probes::folders;
use crate::figures::random::hash;
use crate::figures::row::Row;
use crate::run::job::Job;
use crate::run::plan::{Plan, Progress, Subject};

/// The result of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// Every case under every method at every budget: by file, session, cut, budget, method.
    pub rows: Vec<Row>,
    /// Cases that were measured.
    pub cases: usize,
    /// Sessions that were read.
    pub sessions: usize,
}

impl Run {
    pub(crate) fn add(&mut self, part: Self) {
        self.rows.extend(part.rows);
        self.cases += part.cases;
        self.sessions += part.sessions;
    }
}

impl Plan {
    /// Runs the plan. Files are worked on in parallel; the rows come in the same order whatever the number of threads.
    pub fn run(&self, progress: Progress<'_>) -> Result<Run, EvalError> {
        let files = if self.subject == Subject::Probes { folders(&self.paths)? } else { files(&self.paths)? };
        let chosen = self.sample_sessions(&files)?;
        let job = Job::new(self, files.len(), progress);
        let wanted = |id: &CaseId| chosen.as_ref().is_none_or(|chosen| chosen.contains(&session_key(id)));
        let of_files: Vec<Result<Run, EvalError>> = files
            .par_iter()
            .map(|file| {
                let result = job.of_file(file, &wanted, true);
                (job.progress)(job.done.fetch_add(1, Ordering::Relaxed) + 1, job.files, &[]);
                result
            })
            .collect();
        let mut run = Run::default();
        for result in of_files {
            run.add(result?);
        }
        Ok(run)
    }

    /// The sessions of the sample: those with the smallest hashes under the seed, so that a larger sample holds the
    /// smaller ones. `None` without a sample.
    fn sample_sessions(&self, files: &[File]) -> Result<Option<HashSet<String>>, EvalError> {
        let Some(size) = self.sample else { return Ok(None) };
        let job = Job::new(self, 0, &|_, _, _| {});
        let listed: Vec<Result<Run, EvalError>> =
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
