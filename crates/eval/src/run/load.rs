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
use crate::run::outcome::Run;
use crate::run::plan::Subject;

/// Which sessions are worked on.
type CaseSelector<'a> = &'a (dyn Fn(&CaseId) -> bool + Sync);

impl Job<'_> {
    /// The cases of one file, none where it is not one of sessions; without `measure` one empty row for each.
    pub(crate) fn of_file(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<Run, EvalError> {
        if self.plan.subject == Subject::Probes {
            return self.of_probes(file, wanted, measure);
        }
        let Ok(loaded) = read(file.read()?, ReadOptions::default()) else { return Ok(Run::default()) };
        let mut found = Run { sessions: loaded.sessions.len(), ..Run::default() };
        if !self.plan.filter.admits_format(loaded.format.as_str()) {
            return Ok(found);
        }
        let format = loaded.format.as_str();
        let of_sessions: Vec<Result<Run, EvalError>> = loaded
            .sessions
            .par_iter()
            .map(|session| {
                let (file, name) = (file.name.clone(), session.name.clone());
                let id = CaseId { file, session: name, cut_permille: 0, part: None };
                if !self.plan.filter.admits_session(&id) || !wanted(&id) {
                    return Ok(Run::default());
                }
                self.of_session(&id, format, &session.session, measure)
            })
            .collect();
        for result in of_sessions {
            found.add(result?);
        }
        Ok(found)
    }

    /// Returns the probed session of a folder: one case, with its prefix unchanged.
    fn of_probes(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<Run, EvalError> {
        let mut found = Run { sessions: 1, ..Run::default() };
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
    ) -> Result<Run, EvalError> {
        let mut found = Run::default();
        let mut take = |case: Case, own: Option<Vec<Entry>>| {
            if self.plan.filter.admits(&case) {
                found.cases += 1;
                let measured = Measure { job: self, case: &case };
                found.rows.extend(match (measure, own) {
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
            return Ok(found);
        }
        for cut in &self.plan.cuts {
            let id = CaseId { cut_permille: (cut.cut * 1000.0).round() as u32, ..id.clone() };
            if let Some(case) = Case::new(id, format, session, cut)? {
                take(case, None);
            }
        }
        Ok(found)
    }
}
