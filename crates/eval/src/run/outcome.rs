//! A run of a plan, and its result: files in parallel, cases in a fixed order.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::EvalError;
use crate::cases::case::CaseId;
use crate::cases::files::{File, files};
use crate::cases::left_out::{LeftOut, LeftOutReason};
use crate::cases::probes::folders;
use crate::figures::random::hash;
use crate::figures::row::Row;
use crate::run::context::RunContext;
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
    /// Files and sessions of which nothing was measured, then cuts and budgets of measured sessions, by reason and name.
    pub left_out: BTreeSet<LeftOut>,
}

impl Run {
    /// A run of something that was left out.
    pub(crate) fn without(left_out: LeftOut) -> Self {
        Self { left_out: [left_out].into(), ..Self::default() }
    }

    /// Adds a case with its rows.
    pub(crate) fn take(&mut self, rows: Vec<Row>) {
        self.cases += 1;
        self.rows.extend(rows);
    }

    /// Where nothing of a session was measured, the session itself is left out, by the first of the reasons.
    pub(crate) fn tell_whole_sessions(&mut self) {
        if self.cases == 0
            && let Some(first) = self.left_out.pop_first()
        {
            self.left_out = [LeftOut { cut_permille: None, budget: None, ..first }].into();
        }
    }

    /// Returns how many sessions were measured.
    pub fn measured(&self) -> usize {
        self.rows.iter().map(|row| (&row.case.file, &row.case.session)).collect::<BTreeSet<_>>().len()
    }

    pub(crate) fn add(&mut self, part: Self) {
        self.rows.extend(part.rows);
        self.cases += part.cases;
        self.sessions += part.sessions;
        self.left_out.extend(part.left_out);
    }
}

impl Plan {
    /// Runs the plan. Files are worked on in parallel; the rows come in the same order whatever the number of threads.
    pub fn run(&self, progress: Progress<'_>) -> Result<Run, EvalError> {
        let files = if self.subject == Subject::Probes { folders(&self.paths)? } else { files(&self.paths)? };
        let mut run = Run::default();
        let chosen = self.sample_sessions(&files, &mut run.left_out)?;
        let job = RunContext::new(self, files.len(), progress);
        let wanted = |id: &CaseId| chosen.as_ref().is_none_or(|chosen| chosen.contains(&session_key(id)));
        let of_files: Vec<Result<Run, EvalError>> = files
            .par_iter()
            .map(|file| {
                let result = job.of_file(file, &wanted, true);
                (job.progress)(job.done.fetch_add(1, Ordering::Relaxed) + 1, job.files, &[]);
                result
            })
            .collect();
        for result in of_files {
            run.add(result?);
        }
        Ok(run)
    }

    /// The sessions of the sample: those with the smallest hashes under the seed, so that a larger sample holds the
    /// smaller ones. `None` without a sample. What is not drawn is added to `left_out`.
    fn sample_sessions(
        &self,
        files: &[File],
        left_out: &mut BTreeSet<LeftOut>,
    ) -> Result<Option<HashSet<SessionKey>>, EvalError> {
        let Some(size) = self.sample else { return Ok(None) };
        let job = RunContext::new(self, 0, &|_, _, _| {});
        let listed: Vec<Result<Run, EvalError>> =
            files.par_iter().map(|file| job.of_file(file, &|_| true, false)).collect();
        let mut keys = Vec::new();
        for found in listed {
            let found = found?;
            keys.extend(found.rows.iter().map(|row| session_key(&row.case)));
            left_out.extend(found.left_out);
        }
        keys.sort_unstable();
        keys.dedup();
        keys.sort_by_key(|(file, session)| hash(self.seed, &format!("{file}\0{session}")));
        let others = keys.split_off(size.min(keys.len()));
        left_out.retain(|it| it.is_whole() || !others.iter().any(|(file, session)| it.is_of(file, session)));
        left_out.extend(others.into_iter().map(|(file, session)| {
            let id = CaseId { file, session, cut_permille: 0, part: None };
            LeftOut::session(&id, (LeftOutReason::NotDrawn, String::new()))
        }));
        Ok(Some(keys.into_iter().collect()))
    }
}

/// The file and the session.
type SessionKey = (String, String);

fn session_key(id: &CaseId) -> SessionKey {
    (id.file.clone(), id.session.clone())
}
