//! From files to cases: one file in memory at a time for each thread.

use epitome::Session;
use rayon::prelude::*;

use crate::EvalError;
use crate::cases::budget::BudgetSpec;
use crate::cases::case::{Case, CaseId};
use crate::cases::files::File;
use crate::cases::left_out::{LeftOut, LeftOutReason};
use crate::cases::probes::ProbedCase;
use crate::cases::recorded::{self, RecordedCase};
use crate::figures::row::Row;
use crate::run::context::RunContext;
use crate::run::measure::Measure;
use crate::run::outcome::Run;
use crate::run::plan::Subject;

/// Which sessions are worked on.
type CaseSelector<'a> = &'a (dyn Fn(&CaseId) -> bool + Sync);

impl RunContext<'_> {
    /// The cases of one file, none where it is not one of sessions; without `measure` one empty row for each.
    pub(crate) fn of_file(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<Run, EvalError> {
        if self.plan.subject == Subject::Probes {
            return self.of_probes(file, wanted, measure);
        }
        let loaded = match file.load(&file.name) {
            Ok((loaded, _)) => loaded,
            Err(left_out) => return Ok(Run::without(left_out)),
        };
        let mut found = Run { sessions: loaded.sessions.len(), ..Run::default() };
        let format = loaded.format.as_str();
        let of_sessions: Vec<Result<Run, EvalError>> = loaded
            .sessions
            .par_iter()
            .map(|session| {
                let (file, name) = (file.name.clone(), session.name.clone());
                let id = CaseId { file, session: name, cut_permille: 0, part: None };
                if let Some(refusal) = self.plan.filter.refuses_session(format, &id) {
                    return Ok(Run::without(LeftOut::session(&id, refusal)));
                }
                match wanted(&id) {
                    true => self.of_session(&id, format, &session.session, measure),
                    false => Ok(Run::default()),
                }
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
        let probed = ProbedCase::read(file)?;
        let (case, filter) = (&probed.case, &self.plan.filter);
        if let Some(refusal) = filter.refuses_session(&case.format, &case.id).or_else(|| filter.refuses_task(case)) {
            found.left_out.insert(LeftOut::session(&case.id, refusal));
        } else if wanted(&case.id) {
            found.cases = 1;
            found.rows = if measure { Measure { job: self, case }.probes(&probed) } else { vec![Row::empty(case)] };
        }
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
        if self.plan.subject == Subject::Recorded {
            let options = self.plan.cuts.first().cloned().unwrap_or_default();
            for RecordedCase { case, own } in recorded::cases(id, format, session, &options)? {
                match self.plan.filter.refuses(&case) {
                    Some(refusal) => _ = found.left_out.insert(LeftOut::session(&case.id, refusal)),
                    None if measure => found.take(Measure { job: self, case: &case }.beside(&own)),
                    None => found.take(vec![Row::empty(&case)]),
                }
            }
            if found.cases == 0 && found.left_out.is_empty() {
                found.left_out.insert(LeftOut::session(id, (LeftOutReason::NoRecordedSummary, String::new())));
            }
        } else {
            for cut in &self.plan.cuts {
                let id = CaseId { cut_permille: (cut.cut * 1000.0).round() as u32, ..id.clone() };
                match Case::new(id.clone(), format, session, cut)? {
                    Some(case) => self.of_cut(&case, measure, &mut found),
                    None => _ = found.left_out.insert(LeftOut::cut(&id, (LeftOutReason::NoCut, String::new()))),
                }
            }
        }
        found.tell_whole_sessions();
        Ok(found)
    }

    /// Adds a session cut in two to `found`.
    fn of_cut(&self, case: &Case, measure: bool, found: &mut Run) {
        if let Some(refusal) = self.plan.filter.refuses(case) {
            found.left_out.insert(LeftOut::cut(&case.id, refusal));
            return;
        }
        let fits = |budget: &BudgetSpec| self.leaves_out_fitting && case.prefix_tokens <= case.budget_tokens(*budget);
        let (fitting, budgets): (Vec<BudgetSpec>, Vec<BudgetSpec>) = self.plan.budgets.iter().copied().partition(fits);
        for budget in &fitting {
            let detail = format!("{} tokens, the budget is {}", case.prefix_tokens, case.budget_tokens(*budget));
            let left_out = LeftOut::cut(&case.id, (LeftOutReason::FitsBudget, detail));
            found.left_out.insert(LeftOut { budget: Some(budget.to_string()), ..left_out });
        }
        match measure {
            _ if budgets.is_empty() => {}
            true => found.take(Measure { job: self, case }.at_budgets(&budgets)),
            false => found.take(vec![Row::empty(case)]),
        }
    }
}
