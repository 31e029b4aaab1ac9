//! Replay: a recorded session turn by turn under a policy, with the provider's prompt cache and a price table.
//!
//! Before each call of the model the budget is checked, as a runtime would check it, and a compaction is made where it
//! is due. The messages are those of the recording whatever the policy removed: how an agent would have acted otherwise
//! is not known. An observer may have it make calls beside them.

mod observer;
mod own;
mod policy;
mod prompt;
mod recording;
mod session;
mod total;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome::Session;
use epitome::formats::{ReadOptions, read};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use epitome::config::{Price, Prices, TokenUsage};
pub use observer::ReplayObserver;
pub use policy::{NEVER, Policy, RECORDED, policies};
pub use recording::Recording;
pub use session::{Model, ReplayEpoch, Turn};
pub use total::{Total, totals};

use crate::EvalError;
use crate::cases::case::CaseId;
use crate::cases::files::files;
use crate::cases::select::Filter;
use session::replay;

/// The settings of a replay.
#[derive(Debug)]
pub struct ReplayPlan {
    /// Files and folders; a folder means every file in it.
    pub paths: Vec<PathBuf>,
    /// The policies, in the order of the tables.
    pub policies: Vec<Policy>,
    /// The model.
    pub model: Model,
    /// Which sessions count: least tokens, format, pattern.
    pub filter: Filter,
}

/// A session under a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayedSession {
    /// The file, relative to the folder that was named.
    pub file: String,
    /// The session's name in its file.
    pub session: String,
    /// The recording's format.
    pub format: String,
    /// The policy.
    pub policy: String,
    /// Tokens of all messages of the session.
    pub session_tokens: u64,
    /// Tokens of the tool definitions.
    pub tool_tokens: u64,
    /// Compactions that the recording holds.
    pub recorded_compactions: u32,
    /// Every compaction.
    pub epochs: Vec<ReplayEpoch>,
    /// How long the replay took, in microseconds: appending, checking, compacting.
    pub micros: u64,
    /// Every call of the model.
    pub turns: Vec<Turn>,
}

/// The result of a replay.
#[derive(Debug, Default)]
pub struct ReplayRun {
    /// Every session under every policy: by file, session, policy.
    pub rows: Vec<ReplayedSession>,
    /// Sessions that were read.
    pub sessions: usize,
}

impl ReplayPlan {
    /// Replays and returns the result. Files are worked on in parallel; the rows have the same order whatever the
    /// number of threads. `progress` is called with the number of files done and of all.
    pub fn run(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<ReplayRun, EvalError> {
        let files = files(&self.paths)?;
        let done = AtomicUsize::new(0);
        let of_files: Vec<Result<ReplayRun, EvalError>> = files
            .par_iter()
            .map(|file| {
                let found = self.of_file(&file.name, file.read()?);
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
                found
            })
            .collect();
        let mut run = ReplayRun::default();
        for found in of_files {
            let ReplayRun { rows, sessions } = found?;
            run.rows.extend(rows);
            run.sessions += sessions;
        }
        Ok(run)
    }

    /// Returns the sessions of one file; none where it is not one of sessions.
    fn of_file(&self, file: &str, bytes: Vec<u8>) -> Result<ReplayRun, EvalError> {
        let Ok(loaded) = read(bytes, ReadOptions::default()) else { return Ok(ReplayRun::default()) };
        let format = loaded.format.as_str();
        let mut rows = Vec::new();
        let of_sessions: Vec<Result<Vec<ReplayedSession>, EvalError>> = loaded
            .sessions
            .par_iter()
            .map(|session| {
                let id = CaseId { file: file.to_owned(), session: session.name.clone(), cut_permille: 0, part: None };
                match self.filter.refuses_session(format, &id) {
                    Some(_) => Ok(Vec::new()),
                    None => self.of_session(&id, format, &session.session),
                }
            })
            .collect();
        for found in of_sessions {
            rows.extend(found?);
        }
        Ok(ReplayRun { rows, sessions: loaded.sessions.len() })
    }

    /// Returns a session under each policy; none where the model was never called, or where the session is too short.
    fn of_session(&self, id: &CaseId, format: &str, session: &Session) -> Result<Vec<ReplayedSession>, EvalError> {
        let recording = Recording::new(session);
        if recording.total < u64::from(self.filter.min_tokens) {
            return Ok(Vec::new());
        }
        let under = |policy: &Policy| recording.replay(id, format, policy, &self.model, None);
        let rows: Vec<ReplayedSession> = self.policies.iter().map(under).collect::<Result<_, EvalError>>()?;
        Ok(if rows.iter().any(|row| row.turns.is_empty()) { Vec::new() } else { rows })
    }
}

impl Recording<'_> {
    /// Returns the recording under a policy, followed by `observer` where there is one. Linear in the session, and in the view
    /// for each compaction.
    pub fn replay<'o>(
        &self,
        id: &CaseId,
        format: &str,
        policy: &Policy,
        model: &Model,
        observer: Option<&'o mut (dyn ReplayObserver + 'o)>,
    ) -> Result<ReplayedSession, EvalError> {
        let outcome = replay(self, policy, model, observer)?;
        Ok(ReplayedSession {
            file: id.file.clone(),
            session: id.session.clone(),
            format: format.to_owned(),
            policy: policy.name().to_owned(),
            session_tokens: self.total,
            tool_tokens: self.tools,
            recorded_compactions: self.compactions() as u32,
            epochs: outcome.epochs,
            micros: outcome.micros,
            turns: outcome.turns,
        })
    }
}
