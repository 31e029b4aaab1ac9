//! From files to cases: one file in memory at a time for each thread.

use epitome::Session;
use epitome::formats::{ReadOptions, read};
use epitome::session::Entry;
use rayon::prelude::*;

use crate::EvalError;
use crate::cases::case::{Case, CaseId};
use crate::cases::files::File;
use crate::cases::probes::ProbedCase;
use crate::cases::recorded::{self, RecordedCase};
use crate::figures::row::Row;
use crate::run::job::Job;
use crate::run::measure::Measure;
use crate::run::plan::Subject;

/// What a file gave.
#[derive(Default)]
pub(crate) struct FileRows {
    pub(crate) rows: Vec<Row>,
    pub(crate) cases: usize,
    pub(crate) sessions: usize,
    /// Why the file is not a session.
    pub(crate) problem: Option<String>,
}

/// Which sessions are worked on.
type CaseSelector<'a> = &'a (dyn Fn(&CaseId) -> bool + Sync);

impl Job<'_> {
    /// The cases of one file; without `measure` one empty row for each.
    pub(crate) fn of_file(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<FileRows, EvalError> {
        if self.plan.subject == Subject::Probes {
            return self.of_probes(file, wanted, measure);
        }
        let loaded = match read(file.read()?, ReadOptions::default()) {
            Ok(loaded) => loaded,
            Err(error) => return Ok(FileRows { problem: Some(error.to_string()), ..FileRows::default() }),
        };
        let mut found = FileRows { sessions: loaded.sessions.len(), ..FileRows::default() };
        if !self.plan.filter.admits_format(loaded.format.as_str()) {
            return Ok(found);
        }
        let format = loaded.format.as_str();
        let of_sessions: Vec<Result<(usize, Vec<Row>), EvalError>> = loaded
            .sessions
            .par_iter()
            .map(|session| {
                let (file, name) = (file.name.clone(), session.name.clone());
                let id = CaseId { file, session: name, cut_permille: 0, part: None };
                if !self.plan.filter.admits_session(&id) || !wanted(&id) {
                    return Ok((0, Vec::new()));
                }
                self.of_session(&id, format, &session.session, measure)
            })
            .collect();
        for result in of_sessions {
            let (cases, rows) = result?;
            found.cases += cases;
            found.rows.extend(rows);
        }
        Ok(found)
    }

    /// Returns the probed session of a folder: one case, with its prefix unchanged.
    fn of_probes(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<FileRows, EvalError> {
        let mut found = FileRows { sessions: 1, ..FileRows::default() };
        let Some(probed) = ProbedCase::read(file, self.plan)?.filter(|probed| wanted(&probed.case.id)) else {
            return Ok(found);
        };
        found.cases = 1;
        let case = &probed.case;
        found.rows = if measure { Measure { job: self, case }.probes(&probed) } else { vec![Row::empty(case)] };
        Ok(found)
    }

    pub(crate) fn of_session(
        &self,
        id: &CaseId,
        format: &str,
        session: &Session,
        measure: bool,
    ) -> Result<(usize, Vec<Row>), EvalError> {
        let (mut cases, mut rows) = (0, Vec::new());
        let mut take = |case: Case, own: Option<Vec<Entry>>| {
            if self.plan.filter.admits(&case) {
                cases += 1;
                let measured = Measure { job: self, case: &case };
                rows.extend(match (measure, own) {
                    (false, _) => vec![Row::empty(&case)],
                    (true, None) => measured.at_budgets(),
                    (true, Some(own)) => measured.beside(&own),
                });
            }
        };
        if self.plan.subject == Subject::Recorded {
            let options = self.plan.cuts.first().cloned().unwrap_or_default();
            for RecordedCase { case, own } in recorded::cases(id, format, session, &options)? {
                take(case, Some(own));
            }
            return Ok((cases, rows));
        }
        for cut in &self.plan.cuts {
            let id = CaseId { cut_permille: (cut.cut * 1000.0).round() as u32, ..id.clone() };
            if let Some(case) = Case::new(id, format, session, cut)? {
                take(case, None);
            }
        }
        Ok((cases, rows))
    }
}
