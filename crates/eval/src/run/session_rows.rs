//! One session by itself, measured as a run measures the sessions of its files.

use epitome::Session;
use epitome::formats::LoadedFile;

use crate::EvalError;
use crate::cases::case::CaseId;
use crate::cases::probes::{Probe, context_text, messages_of, recall};
use crate::figures::row::Row;
use crate::run::job::Job;
use crate::run::plan::Plan;

impl Plan {
    /// Measures one session: the rows that a run of the plan over a file with that session has, whatever its paths. None
    /// where no cut leaves messages on both sides, or the filter leaves the session out.
    pub fn rows_of(&self, id: &CaseId, format: &str, session: &Session) -> Result<Vec<Row>, EvalError> {
        let job = Job::new(self, 0, &|_, _, _| {});
        job.of_session(id, format, session, true).map(|(_, rows)| rows)
    }
}

/// Returns whether the view of the only session of a file shows the facts of each probe. The error says why it cannot
/// be asked. Linear in the view for each wording.
pub fn shown_probes(probes: &[Probe], loaded: &LoadedFile) -> Result<Vec<bool>, String> {
    let [only] = loaded.sessions.as_slice() else {
        return Err(format!("there are {} sessions in it, and one is asked", loaded.sessions.len()));
    };
    let messages = messages_of(only.session.view(), only.session.tools.as_deref())?;
    Ok(recall(probes, &context_text(&messages)))
}
