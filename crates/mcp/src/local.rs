//! A session on this machine: in a file that an agent is still writing, that of a folder which asks, or in a store.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use epitome::context::{ContextStatus, Fullness, tool_definition_tokens};
use epitome::follow::{ReadProblem, SessionSource};
use epitome::formats::{Format, RecordedModel};
use epitome::lookup::{Answer, Call, LogIndex, SessionPast};
use epitome::store::{SessionArchive, Store, StoreError, StoredSession, Tenant};
use epitome::strategy::Archive;
use epitome::{Budget, Engine, Runtime, Session};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::call_origin::{CallOrigin, SharedFolder};
use crate::handler::ToolBackend;

/// How long a call is waited for that is not in any file yet, and how often: an agent writes its model's call down while
/// it runs it. Claude Code takes some tenths of a second.
const LOOK_AGAIN: (Duration, u32) = (Duration::from_millis(100), 10);

/// The most sessions of a folder that are kept in memory: an agent with helpers has several threads that ask.
const MOST_SESSIONS: usize = 8;

/// The place of a session.
#[derive(Debug, Clone)]
pub enum SessionLocation {
    /// In a file.
    File {
        /// The file.
        path: PathBuf,
        /// Its format; detected without it.
        format: Option<Format>,
        /// Its session, by name or number, where the file has several.
        session: Option<String>,
    },
    /// The session of a folder that asks.
    Folder {
        /// The folder.
        folder: SharedFolder,
        /// The format of its files; detected without it.
        format: Option<Format>,
        /// The session, by name or number, where a file has several.
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

/// Answers for a session in its present state: new records are read first.
#[derive(Debug)]
pub struct LocalSession {
    engine: Engine,
    runtime: Runtime,
    /// Whether the window of `runtime` is that of the session, whatever model the session names.
    keeps_window: bool,
    /// Why no client is served.
    refusal: Option<String>,
    place: SessionLocation,
    /// The sessions that were read, by their files; one without a file where there is only one.
    open: Mutex<HashMap<PathBuf, OpenSession>>,
}

#[derive(Debug)]
struct OpenSession {
    reader: Reader,
    index: LogIndex,
}

/// The reader of a session.
#[derive(Debug)]
enum Reader {
    File(Box<SessionSource>),
    Store { store: Store, tenant: Tenant, id: Arc<str>, known: Option<Box<StoredSession>> },
}

impl LocalSession {
    /// Returns the session at a place, whose context is counted and bounded by `runtime`; its window is that of the model
    /// that the session's file names, where that is known. Reads nothing yet.
    pub fn new(place: SessionLocation, runtime: Runtime) -> Self {
        let engine = epitome::engine_of(&runtime);
        Self { engine, runtime, keeps_window: false, refusal: None, place, open: Mutex::default() }
    }

    /// Serves no client, and tells it why.
    #[must_use]
    pub fn refuse(self, why: Option<String>) -> Self {
        Self { refusal: why, ..self }
    }

    /// Keeps the window of the runtime, whatever model the session names: the user has set it.
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
        Budget { tool_definitions: tool_definition_tokens(&*self.engine.counter_of(session), session), ..budget }
    }

    /// Returns what fills the session's context. Linear in the log.
    fn status(&self, session: &Session, model: Option<&RecordedModel>) -> ContextStatus {
        let (engine, budget, triggers) = (&self.engine, self.budget(session, model), &self.runtime.triggers);
        let recorded = || model.and_then(|model| model.name.as_deref());
        let name = self.runtime.model.as_deref().or_else(recorded);
        ContextStatus::measure(session, engine, &budget, |ledger| {
            Fullness::measure_reported(ledger, session, ledger.total(), &budget, triggers).for_model(name)
        })
    }

    /// Reads the session where it has changed since the last time; of a folder only its files' names. The file of an agent
    /// that appends to it (Claude Code, Codex, Pi) is read whole twice, then only its new records; others are read whole.
    /// The index costs what is new.
    ///
    /// # Errors
    ///
    /// The session is not there, or cannot be read.
    pub async fn refresh(&self) -> Result<(), ReadProblem> {
        if let SessionLocation::Folder { folder, .. } = &self.place {
            // Who asks is told by the calls.
            return folder.check();
        }
        let mut open = self.open.lock().await;
        self.opened(&mut open, PathBuf::new()).reader.refresh().await
    }

    /// The file of the session that asks; without a name where there is only one session.
    async fn file_of(&self, origin: &CallOrigin) -> Result<PathBuf, ReadProblem> {
        let SessionLocation::Folder { folder, .. } = &self.place else { return Ok(PathBuf::new()) };
        if let (None, Some(call)) = (&origin.session, &origin.call) {
            let (pause, times) = LOOK_AGAIN;
            for _ in 0..times {
                if folder.has_call(call) {
                    break;
                }
                tokio::time::sleep(pause).await;
            }
        }
        folder.file_of(origin)
    }

    /// The session in a file, which is opened where it is not. Reads nothing yet.
    fn opened<'a>(&self, open: &'a mut HashMap<PathBuf, OpenSession>, path: PathBuf) -> &'a mut OpenSession {
        if open.len() >= MOST_SESSIONS && !open.contains_key(&path) {
            open.clear();
        }
        let reader = |path: PathBuf| match &self.place {
            SessionLocation::File { path, format, session } => {
                Reader::File(Box::new(SessionSource::new(path, *format, session.clone())))
            }
            SessionLocation::Folder { format, session, .. } => {
                Reader::File(Box::new(SessionSource::new(path, *format, session.clone())))
            }
            SessionLocation::Store { store, tenant, id } => {
                Reader::Store { store: store.clone(), tenant: tenant.clone(), id: Arc::clone(id), known: None }
            }
        };
        let new = || OpenSession { reader: reader(path.clone()), index: LogIndex::default() };
        open.entry(path.clone()).or_insert_with(new)
    }

    /// Answers a call.
    async fn answer_call(&self, call: Call, origin: &CallOrigin) -> Answer {
        let unread = |problem: Option<ReadProblem>| {
            let problem = problem.map_or_else(String::new, |problem| problem.to_string());
            Answer::refusal(format!("The history cannot be read: {problem}."))
        };
        let path = match self.file_of(origin).await {
            Ok(path) => path,
            Err(problem) => return unread(Some(problem)),
        };
        let mut open = self.open.lock().await;
        let OpenSession { reader, index } = self.opened(&mut open, path);
        let problem = reader.refresh().await.err();
        let Some((session, archive, model)) = reader.current() else { return unread(problem) };
        let missing = reader.missing().map(str::to_owned);
        let archive = |handle: &str| match archive {
            Some(archive) => archive.get(handle).map_err(|error| error.to_string()),
            None => Ok(None),
        };
        let status = || self.status(session, model);
        let mut past = SessionPast { session, index, archive: &archive, status: &status };
        let mut answer = past.answer(&call);
        if let Some(missing) = missing {
            answer.text.push_str(&format!("\n[This is not the whole history: {missing}.]"));
        }
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

    fn refusal(&self) -> Option<String> {
        self.refusal.clone()
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>, origin: &CallOrigin) -> Answer {
        match Call::read(tool, &arguments) {
            Ok(call) => self.answer_call(call, origin).await,
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
                    *known = Some(Box::new(store.session(tenant, id).await.map_err(failed)?));
                }
                Ok(())
            }
        }
    }

    /// What the session continues in another file and is not there, and why.
    fn missing(&self) -> Option<&str> {
        match self {
            Self::File(source) => source.current()?.missing.as_deref(),
            Self::Store { .. } => None,
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
