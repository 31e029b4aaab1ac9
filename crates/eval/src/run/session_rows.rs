//! One session by itself, measured as a run measures the sessions of its files.

use epitome::Session;

use crate::EvalError;
use crate::cases::case::CaseId;
use crate::figures::row::Row;
use crate::run::context::RunContext;
use crate::run::plan::Plan;

impl Plan {
    /// Measures one session: the rows that a run of the plan over a file with that session has, whatever its paths, and those
    /// at budgets that it is within as it is. None where no cut leaves messages on both sides, or the filter leaves the
    /// session out.
    pub fn rows_of(&self, id: &CaseId, format: &str, session: &Session) -> Result<Vec<Row>, EvalError> {
        let job = RunContext { leaves_out_fitting: false, ..RunContext::new(self, 0, &|_, _, _| {}) };
        job.of_session(id, format, session, true).map(|run| run.rows)
    }
}
