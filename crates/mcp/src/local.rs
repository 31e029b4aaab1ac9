//! A session on this machine: in a file that an agent is still writing, in the newest file of a folder, or in a store.

use std::path::PathBuf;
use std::sync::Arc;

use epitome::context::{Fullness, tool_definition_tokens};
use epitome::follow::{ReadProblem, SessionSource};
use epitome::formats::{Format, RecordedModel};
use epitome::store::{SessionArchive, Store, StoreError, Tenant};
use epitome::strategy::Archive;
use epitome::{Budget, Engine, Runtime, Session};
use rmcp::model::Extensions;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::answer::Answer;
use crate::call::Call;
use crate::handler::ToolBackend;
use crate::past::{LogIndex, SessionPast};
use crate::status::ContextStatus;

/// The place of a session.
#[derive(Debug, Clone)]
pub enum SessionLocation {
    /// In a file, or in the newest `.jsonl` or `.json` file of a folder that reads as a session.
    File {
        /// The file or folder.
        path: PathBuf,
        /// Its format; detected without it.
        format: Option<Format>,
        /// Its session, by name or number, where the file has several.
        session: Option<String>,
    },
    /// In a store.
    Store {
        /// The store.
        store: Store,
        /// The tenant that owns it.
        tenant: Tenant,
        /// Its id.
        id: Arc<str>,
    },
}

/// A session of a store at its last reading.
#[derive(Debug)]
struct StoredSession {
    version: u64,
    session: Session,
    archive: SessionArchive,
}

/// Answers for one session in its present state: new records are read first.
#[derive(Debug)]
pub struct LocalSession {
    engine: Engine,
    runtime: Runtime,
    /// Whether the window of `runtime` is that of the session, whatever model the session names.
    keeps_window: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    reader: Reader,
    index: LogIndex,
}

/// The reader of the session of a place.
#[derive(Debug)]
enum Reader {
    File(Box<SessionSource>),
    Store { store: Store, tenant: Tenant, id: Arc<str>, known: Option<Box<StoredSession>> },
}

impl LocalSession {
    /// Returns the session at a place, whose context is counted and bounded by `runtime`; its window is that of the model
    /// that the session's file names, where that is known. Reads nothing yet.
    pub fn new(place: SessionLocation, runtime: Runtime) -> Self {
        let reader = match place {
            SessionLocation::File { path, format, session } => {
                Reader::File(Box::new(SessionSource::new(path, format, session)))
            }
            SessionLocation::Store { store, tenant, id } => Reader::Store { store, tenant, id, known: None },
        };
        let state = Mutex::new(State { reader, index: LogIndex::default() });
        Self { engine: epitome::engine_of(&runtime), runtime, keeps_window: false, state }
    }

    /// Keeps the window of the runtime, whatever model the session names: somebody has set it.
    #[must_use]
    pub fn keep_window(self) -> Self {
        Self { keeps_window: true, ..self }
    }

    /// Returns the budget of the session's messages. Linear in the tool definitions.
    fn budget(&self, session: &Session, model: Option<&RecordedModel>) -> Budget {
        let model = model.filter(|_| !self.keeps_window);
        let recorded = model.and_then(|model| model.window).map(|window| self.runtime.budget_in(window));
        let named = || self.runtime.budget_for(model?.name.as_deref()?).ok();
        let budget = recorded.or_else(named).unwrap_or_else(|| self.runtime.budget.clone());
        Budget { tool_definitions: tool_definition_tokens(&self.engine, session), ..budget }
    }

    /// Returns what fills the session's context. Linear in the log.
    fn status(&self, session: &Session, model: Option<&RecordedModel>) -> ContextStatus {
        let (engine, budget) = (&self.engine, self.budget(session, model));
        let recorded = || model.and_then(|model| model.name.as_deref());
        let name = self.runtime.model.as_deref().or_else(recorded);
        ContextStatus::measure(session, engine, &budget, |tokens| {
            Fullness::measure_reported(engine, session, tokens, &budget, &self.runtime.triggers).for_model(name)
        })
    }

    /// Reads the session where it has changed since the last time. The file of an agent that appends to it (Claude
    /// Code, Codex, Pi) is read whole twice, then only its new records; others are read whole. The index costs what is
    /// new.
    pub async fn refresh(&self) -> Result<(), ReadProblem> {
        self.state.lock().await.reader.refresh().await
    }

    /// Answers a call.
    async fn answer_call(&self, call: Call) -> Answer {
        let State { reader, index } = &mut *self.state.lock().await;
        let problem = reader.refresh().await.err();
        let Some((session, archive, model)) = reader.current() else {
            let problem = problem.map_or_else(String::new, |problem| problem.to_string());
            return Answer::refusal(format!("The history cannot be read: {problem}."));
        };
        let archive = |handle: &str| match archive {
            Some(archive) => archive.get(handle).map_err(|error| error.to_string()),
            None => Ok(None),
        };
        let status = || self.status(session, model);
        let mut past = SessionPast { session, index, archive: &archive, status: &status };
        let mut answer = past.answer(&call);
        if let Some(problem) = problem {
            answer.text.push_str(&format!("\n[This is the history as it was read last. Now: {problem}.]"));
        }
        answer
    }
}

impl ToolBackend for LocalSession {
    fn has_many_sessions(&self) -> bool {
        false
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>, _: &Extensions) -> Answer {
        match Call::read(tool, &arguments) {
            Ok(call) => self.answer_call(call).await,
            Err(problem) => Answer::refusal(problem),
        }
    }
}

impl Reader {
    async fn refresh(&mut self) -> Result<(), ReadProblem> {
        match self {
            Self::File(source) => source.refresh().map(|_| ()),
            Self::Store { store, tenant, id, known } => {
                let failed = |error: StoreError| match error {
                    StoreError::NotFound { .. } => ReadProblem::Missing(format!("session `{id}`")),
                    other => ReadProblem::Unreadable(other.to_string()),
                };
                let info = store.session_info(tenant, id).await.map_err(failed)?;
                if known.as_ref().is_none_or(|known| known.version != info.version) {
                    let stored = store.session(tenant, id).await.map_err(failed)?;
                    let (version, session, archive) = (stored.version, stored.session, stored.archive);
                    *known = Some(Box::new(StoredSession { version, session, archive }));
                }
                Ok(())
            }
        }
    }

    /// The session as it was read last, its archive where it has one, and the model that its file names.
    fn current(&self) -> Option<(&Session, Option<&SessionArchive>, Option<&RecordedModel>)> {
        match self {
            Self::File(source) => {
                source.current().map(|read| (&read.session, read.archive.as_ref(), Some(&read.model)))
            }
            Self::Store { known, .. } => known.as_ref().map(|known| (&known.session, Some(&known.archive), None)),
        }
    }
}
