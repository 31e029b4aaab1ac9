//! A live session as Python has it.

use std::sync::{Arc, Mutex, TryLockError};
use std::time::{SystemTime, UNIX_EPOCH};

use epitome::engine::{Draft, Status, block_on};
use epitome::formats::{Wire, render};
use epitome::live::{LiveSession, MaintainOutcome, Overflow};
use epitome::session::{EntryKey, MessageRange};
use epitome_binding::{content_json, load_next, profile_of, search_query};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::callables::listener;
use crate::engine::Engine;
use crate::failure::{Failure, Raise};
use crate::json_text::{Json, WholeText};
use crate::objects::{object_from, object_of};
use crate::parts::Parts;
use crate::session_backend::{SessionBackend, begin};
use crate::session_bytes::SessionBytes;

/// A session that is going on. One call at a time works on it; another one meanwhile is refused, for a callable that asks
/// the session that waits for it would wait for ever.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Session {
    held: Mutex<SessionBackend>,
    parts: Arc<Parts>,
    /// The provider's format that messages are given back in.
    profile: Wire,
}

/// A compaction that was worked out and not yet made.
#[pyclass(module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct LiveDraft {
    draft: Draft,
    parts: Arc<Parts>,
}

impl Session {
    /// A session that is held in memory, in a file or in a store.
    pub(crate) fn over(held: SessionBackend, parts: &Arc<Parts>, profile: Wire) -> Self {
        Self { held: Mutex::new(held), parts: Arc::clone(parts), profile }
    }

    /// Works on it while the interpreter's lock is released.
    fn hold<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut SessionBackend) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        self.parts.without_python(py, |_| match self.held.try_lock() {
            Ok(mut held) => work(&mut held),
            // What panicked left the session as it was, or as it was stored.
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Failure::other(
                "the session is at work in another call: use it from one thread at a time, and not from its own callables",
            )),
        })
    }

    /// Looks at it, or previews.
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut LiveSession) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        self.hold(py, |held| held.look(work))
    }

    /// Changes it; in a store whole or not at all.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut LiveSession) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        self.hold(py, |held| held.change(work))
    }
}

#[pymethods]
impl Session {
    /// A session in memory: empty, or one that is there already.
    #[new]
    fn new(
        py: Python<'_>,
        engine: &Engine,
        data: Option<SessionBytes<'_>>,
        format: Option<String>,
        session: Option<String>,
    ) -> PyResult<Self> {
        let input = data.map(|data| data.input());
        engine.parts.without_python(py, |parts| {
            let (live, profile) = begin(parts, input, format.as_deref(), session.as_deref())?;
            Ok(Self::over(SessionBackend::Alone(live), parts, profile))
        })
    }

    /// Opens a session that was kept in a file.
    #[staticmethod]
    fn open(py: Python<'_>, engine: &Engine, path: std::path::PathBuf, format: Option<String>) -> PyResult<Self> {
        engine.parts.without_python(py, |parts| {
            let profile = profile_of(format.as_deref(), None)?;
            let live = LiveSession::open_with_engine(parts.engine(), &parts.runtime, &path)?;
            Ok(Self::over(SessionBackend::Alone(live), parts, profile))
        })
    }

    /// Keeps the session in a new file from here on.
    fn keep_in(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        self.hold(py, |held| held.keep_in(&path))
    }

    /// The id under which a store keeps it; `None` where none does.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.hold(py, |held| Ok(held.shared().map(|shared| shared.id().to_string())))
    }

    /// The number of its changes in its store, when it was last read or stored.
    #[getter]
    fn version(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.hold(py, |held| Ok(held.shared().map(|shared| shared.version())))
    }

    /// Reads it again where its store has another state of it; whether it has.
    fn reload(&self, py: Python<'_>) -> PyResult<bool> {
        self.hold(py, SessionBackend::reload)
    }

    /// Waits until everything is on the disk.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        self.look(py, |live| Ok(live.save()?))
    }

    /// Appends messages; their ids.
    fn push(&self, py: Python<'_>, data: &[u8], format: Option<String>) -> PyResult<Vec<String>> {
        let bytes = data.to_vec();
        self.hold(py, |held| {
            let format = format.unwrap_or_else(|| self.profile.as_str().to_owned());
            // When it was said is when it came, unless it says otherwise: as the service stores it.
            let now = held.shared().and_then(|_| SystemTime::now().duration_since(UNIX_EPOCH).ok());
            let now = now.map(|since| since.as_millis() as i64);
            held.change(|live| {
                let mut messages = load_next(&bytes, &format, live.session())?;
                messages.iter_mut().for_each(|message| message.timestamp = message.timestamp.or(now));
                let mut ids = Vec::new();
                for message in messages {
                    live.push(message)?;
                    let newest = live.session().log().last();
                    ids.extend(newest.map(|message| message.id.to_string()));
                }
                Ok(ids)
            })
        })
    }

    /// The tool definitions that are sent with every request, as JSON.
    fn set_tools(&self, py: Python<'_>, tools: Option<String>) -> PyResult<()> {
        self.change(py, |live| Ok(live.set_tools(tools.as_deref())?))
    }

    /// The format that messages are given back in.
    #[getter]
    fn format(&self) -> &'static str {
        self.profile.as_str()
    }

    /// Calls `call` with every event from here on.
    fn subscribe(&self, py: Python<'_>, call: Py<PyAny>) -> PyResult<()> {
        let heard = listener(call, Arc::clone(&self.parts.raised));
        self.look(py, |live| {
            live.subscribe(heard);
            Ok(())
        })
    }

    /// To be called before each call of the model: what was done, with the report where there is one, and the new session
    /// where the settings ask for one.
    fn maintain<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Option<Self>)> {
        let outcome = self.change(py, |live| Ok(block_on(live.maintain())?))?;
        let reply = match &outcome {
            MaintainOutcome::Nothing(check) => json!({ "done": "nothing", "check": check }),
            MaintainOutcome::Compacted(report) if report.status == Status::RolledBack => {
                json!({ "done": "rolled-back", "report": report })
            }
            MaintainOutcome::Compacted(report) => json!({ "done": "compacted", "report": report }),
            MaintainOutcome::Preparing(check) => json!({ "done": "preparing", "check": check }),
            MaintainOutcome::NotWorthwhile(check, report) => {
                json!({ "done": "not-worthwhile", "check": check, "report": report })
            }
            MaintainOutcome::Refused(check) => json!({ "done": "refused", "check": check }),
            MaintainOutcome::NewSession(_) => json!({ "done": "new-session" }),
        };
        let successor = match outcome {
            MaintainOutcome::NewSession(session) => Some(self.hold(py, |held| {
                let successor = held.begin_successor(&self.parts, *session)?;
                Ok(Self::over(successor, &self.parts, self.profile))
            })?),
            _ => None,
        };
        Ok((object_from(py, &reply)?, successor))
    }

    /// Compacts now.
    fn compact<'py>(&self, py: Python<'py>, options: Json) -> PyResult<Bound<'py, PyAny>> {
        let report = self.change(py, |live| {
            let compaction = self.parts.compaction(&options.0, live.tokens())?;
            Ok(block_on(live.compact(&compaction))?)
        })?;
        object_from(py, &report)
    }

    /// Works out a compaction without making it.
    fn preview(&self, py: Python<'_>, options: Json) -> PyResult<LiveDraft> {
        let draft = self.look(py, |live| {
            let compaction = self.parts.compaction(&options.0, live.tokens())?;
            Ok(block_on(live.preview(&compaction))?)
        })?;
        Ok(LiveDraft { draft, parts: Arc::clone(&self.parts) })
    }

    /// Makes the compaction that was previewed.
    fn apply<'py>(&self, py: Python<'py>, draft: &LiveDraft) -> PyResult<Bound<'py, PyAny>> {
        let draft = draft.draft.clone();
        let report = self.change(py, |live| Ok(block_on(live.apply(draft))?))?;
        object_from(py, &report)
    }

    /// The provider has refused the session as too long: compacts harder. The report, and how many attempts are left.
    fn overflowed<'py>(
        &self,
        py: Python<'py>,
        limit: Option<u32>,
        actual: Option<u32>,
    ) -> PyResult<(Bound<'py, PyAny>, u32)> {
        let retry = self.change(py, |live| Ok(block_on(live.handle_overflow(Overflow { limit, actual }))?))?;
        Ok((object_from(py, &retry.report)?, retry.attempts_left))
    }

    /// Takes a compaction back: the one of that number, or the newest in force.
    fn undo(&self, py: Python<'_>, epoch: Option<u32>) -> PyResult<()> {
        self.change(py, |live| {
            block_on(live.run(epitome::live::Command::Undo { epoch }))?;
            Ok(())
        })
    }

    /// Keeps messages no longer that were kept by hand; gives those that were.
    fn release(&self, py: Python<'_>, messages: Vec<String>) -> PyResult<Vec<String>> {
        self.change(py, |live| {
            let range = |text: &String| text.parse().map_err(|error| Failure::config(format!("`messages`: {error}")));
            let messages = messages.iter().map(range).collect::<Result<Vec<MessageRange>, Failure>>()?;
            Ok(live.release(&messages)?.iter().map(ToString::to_string).collect())
        })
    }

    /// Looks at it: `kept` (the messages that are kept by hand), `context` (what fills the window, what leaves next, what has left), `check` (whether a compaction is due),
    /// `history` (every compaction), `tokens` of the view, `sizes` (those of each message), `search` for the query in the
    /// options, `retrieve` what left under the handle in them, `request` (what to send, or all that was ever said).
    fn look_at<'py>(&self, py: Python<'py>, name: &str, options: Json) -> PyResult<Bound<'py, PyAny>> {
        let json = self.look(py, |live| self.json_of(live, name, &options.0))?;
        object_of(py, &json)
    }
}

/// What left under a handle.
#[derive(Deserialize)]
struct HandleOptions {
    handle: String,
}

/// What to send to the model.
#[derive(Deserialize)]
struct RequestOptions {
    /// The provider's form, where it is not the session's.
    format: Option<String>,
    /// Whether everything that was ever said is meant.
    full: bool,
}

impl Session {
    /// What [`look_at`](Self::look_at) gives, as JSON.
    fn json_of(&self, live: &mut LiveSession, name: &str, options: &str) -> Result<Vec<u8>, Failure> {
        let json = match name {
            "context" => serde_json::to_vec(&block_on(live.report_context())),
            "check" => serde_json::to_vec(&live.check()),
            "kept" => serde_json::to_vec(&MessageRange::runs(live.kept_messages())),
            "history" => serde_json::to_vec(&live.history()),
            "tokens" => serde_json::to_vec(&live.tokens()),
            "sizes" => {
                let ledger = live.engine().ledger(live.session());
                let keys = live.session().view().iter().map(|entry| entry.key);
                let sizes = keys.map(|key: EntryKey| ledger.entry(key).map_or(0, |tokens| tokens.total));
                serde_json::to_vec(&sizes.collect::<Vec<u32>>())
            }
            "search" => serde_json::to_vec(&live.search(&search_query(options)?).map_err(Failure::other)?),
            "retrieve" => {
                let HandleOptions { handle } = serde_json::from_str(options).map_err(Failure::other)?;
                let content = live.recall(&handle)?.map(|content| content_json(&content, self.profile.into()));
                Ok(content.transpose()?.map_or_else(|| b"null".to_vec(), String::into_bytes))
            }
            _ => {
                let RequestOptions { format, full } = serde_json::from_str(options).map_err(Failure::other)?;
                let profile = profile_of(Some(format.as_deref().unwrap_or(self.profile.as_str())), None)?;
                let (session, tools) = (live.session(), live.session().tools.as_deref());
                Ok(match full {
                    false => render(session.view(), profile, tools, None).json.into_bytes(),
                    true => render(&session.full_view(), profile, tools, None).json.into_bytes(),
                })
            }
        };
        json.map_err(Failure::other)
    }
}

#[pymethods]
impl LiveDraft {
    /// What it would do.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_from(py, &self.draft.report)
    }

    /// The summaries that would be shown.
    fn summaries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_from(py, &self.draft.summaries())
    }

    /// Replaces the text of a summary by a person's.
    fn edit_summary(&mut self, py: Python<'_>, number: u32, text: WholeText) -> PyResult<()> {
        let parts = Arc::clone(&self.parts);
        let edited = self.draft.edit_summary(number, &text.0, &*parts.runtime.counter);
        edited.map_err(|error| Failure::other(error).raise(py, &parts.raised))
    }
}
