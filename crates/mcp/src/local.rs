//! A session on this machine: in a file that an agent is still writing, in the newest file of a folder, or in a store.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use epitome::formats::{Format, LoadedFile, ReadOptions, read};
use epitome::store::{SessionArchive, SessionFile, Store, Tenant};
use epitome::strategy::Archive;
use epitome::{Engine, Runtime, Session};
use rmcp::model::Extensions;
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::Mutex;

use crate::answer::Answer;
use crate::call::Call;
use crate::growth::Growth;
use crate::handler::ToolBackend;
use crate::past::{LogIndex, SessionPast};
use crate::status::ContextStatus;

/// How deep a folder is searched for the newest file: agents sort theirs by year, month and day.
const DEPTH: usize = 6;

/// The most files of a folder that are looked at.
const MOST_FILES: usize = 100_000;

/// The most files of a folder that are read in search of a session, the newest first.
const TRIES: usize = 16;

/// Folders beside sessions that hold what helpers of an agent did: no session of its own, and often the newest file.
const PASSED_OVER: &str = "subagents";

/// Where a session is.
#[derive(Debug, Clone)]
pub enum SessionLocation {
    /// In a file, or in the newest `.jsonl` or `.json` file of a folder that reads as a session.
    File {
        /// The file or folder.
        path: PathBuf,
        /// Its format; recognised without it.
        format: Option<Format>,
        /// Its session, by name or number, where it holds several.
        session: Option<String>,
    },
    /// In a store.
    Store {
        /// The store.
        store: Arc<dyn Store>,
        /// Whose it is.
        tenant: Tenant,
        /// Its id.
        id: Arc<str>,
    },
}

/// Why a session cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadProblem {
    /// It is not there, or not yet.
    #[error("{0} is not there")]
    Missing(String),
    /// It is there and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// What tells one state of a session from the next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stamp {
    File(PathBuf, u64, Option<SystemTime>),
    Store(u64),
}

/// A session as it was read last.
#[derive(Debug)]
struct CachedSession {
    stamp: Stamp,
    session: Session,
    archive: Option<SessionArchive>,
    /// What reads on where its file grows; there is none until it has grown once.
    growth: Option<Growth>,
}

/// Answers for one session, as it is when it is asked: what was written since is read first.
#[derive(Debug)]
pub struct LocalSession {
    place: SessionLocation,
    engine: Engine,
    runtime: Runtime,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: Option<CachedSession>,
    index: LogIndex,
    /// Newer files of the folder that are no session, and why: they are not read again until they change.
    passed: Vec<(Stamp, ReadProblem)>,
}

impl LocalSession {
    /// The session at a place, whose context is counted and bounded as `runtime` says. Reads nothing yet.
    pub fn new(place: SessionLocation, runtime: Runtime) -> Self {
        Self { place, engine: epitome::engine_of(&runtime), runtime, state: Mutex::default() }
    }

    /// Reads the session where it has changed since the last time. The file of an agent that appends to it (Claude Code, Codex,
    /// Pi) is read whole twice, then only what was appended; others are read whole. The index costs what is new.
    pub async fn refresh(&self) -> Result<(), ReadProblem> {
        self.state.lock().await.refresh(&self.place).await
    }

    /// Answers a call.
    async fn answer_call(&self, call: Call) -> Answer {
        let mut state = self.state.lock().await;
        let problem = state.refresh(&self.place).await.err();
        let State { known: Some(known), index, .. } = &mut *state else {
            let problem = problem.map_or_else(String::new, |problem| problem.to_string());
            return Answer::refusal(format!("The history cannot be read: {problem}."));
        };
        let archive = |handle: &str| match &known.archive {
            Some(archive) => archive.get(handle).map_err(|error| error.to_string()),
            None => Ok(None),
        };
        let status = || ContextStatus::measure(&known.session, &self.engine, &self.runtime.budget);
        let mut past = SessionPast { session: &known.session, index, archive: &archive, status: &status };
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

impl State {
    async fn refresh(&mut self, place: &SessionLocation) -> Result<(), ReadProblem> {
        match place {
            SessionLocation::File { path, format, session } => {
                if path.is_dir() {
                    self.refresh_from_folder(path, *format, session.as_deref())?;
                } else {
                    let stamp = stamp_of(path)?;
                    if !self.is_at(&stamp) {
                        self.known = Some(self.read_file(path, stamp, *format, session.as_deref())?);
                    }
                }
            }
            SessionLocation::Store { store, tenant, id } => {
                let failed = |error: epitome::store::StoreError| match error {
                    epitome::store::StoreError::NotFound { .. } => ReadProblem::Missing(format!("session `{id}`")),
                    other => ReadProblem::Unreadable(other.to_string()),
                };
                let info = store.session_info(tenant, id).await.map_err(failed)?;
                if !self.is_at(&Stamp::Store(info.version)) {
                    let stored = store.session(tenant, id).await.map_err(failed)?;
                    let (stamp, archive) = (Stamp::Store(stored.version), Some(stored.archive));
                    self.known = Some(CachedSession { stamp, session: stored.session, archive, growth: None });
                }
            }
        }
        Ok(())
    }

    fn is_at(&self, stamp: &Stamp) -> bool {
        self.known.as_ref().is_some_and(|known| known.stamp == *stamp)
    }

    /// Reads a file: what was appended, where it is the one that is known and has only grown; else the whole of it.
    fn read_file(
        &mut self,
        path: &Path,
        stamp: Stamp,
        format: Option<Format>,
        wanted: Option<&str>,
    ) -> Result<CachedSession, ReadProblem> {
        let known = self.known.as_mut().filter(|known| matches!(&known.stamp, Stamp::File(file, ..) if file == path));
        let is_known = known.is_some();
        // A session that is chosen by its name is looked up by it each time: the name may be another's by now.
        if let Some(growth) = known.and_then(|known| known.growth.take()).filter(|_| wanted.is_none())
            && let Some((growth, session)) = growth.read_on(path)
        {
            return Ok(CachedSession { stamp, session, archive: None, growth: Some(growth) });
        }
        let (session, archive, growth) = read_whole(path, format, wanted, is_known)?;
        Ok(CachedSession { stamp, session, archive, growth })
    }

    /// Takes the newest file of a folder that reads as a session.
    fn refresh_from_folder(
        &mut self,
        folder: &Path,
        format: Option<Format>,
        wanted: Option<&str>,
    ) -> Result<(), ReadProblem> {
        let mut passed = Vec::new();
        for file in newest_files(folder)?.into_iter().take(TRIES) {
            // It may have gone since the folder was listed.
            let Ok(stamp) = stamp_of(&file) else { continue };
            if self.is_at(&stamp) {
                self.passed = passed;
                return Ok(());
            }
            if let Some(before) = self.passed.iter().position(|(before, _)| *before == stamp) {
                passed.push(self.passed.swap_remove(before));
                continue;
            }
            let problem = match self.read_file(&file, stamp.clone(), format, wanted) {
                Ok(read) if read.session.log().is_empty() => {
                    ReadProblem::Unreadable(format!("{}: nothing was said in it", file.display()))
                }
                Ok(read) => {
                    self.known = Some(read);
                    self.passed = passed;
                    return Ok(());
                }
                Err(problem) => problem,
            };
            if self.known.as_ref().is_some_and(|known| matches!(&known.stamp, Stamp::File(path, ..) if *path == file)) {
                // The session that was answered for is still the one that is meant, not an older one.
                self.passed = passed;
                return Err(problem);
            }
            passed.push((stamp, problem));
        }
        let why = passed.first().map_or_else(String::new, |(_, problem)| format!(" (of its newest file: {problem})"));
        self.passed = passed;
        Err(ReadProblem::Missing(format!("a session in the .jsonl or .json files of {}{why}", folder.display())))
    }
}

fn stamp_of(file: &Path) -> Result<Stamp, ReadProblem> {
    let about = fs::metadata(file).map_err(|error| io_problem(file, &error))?;
    Ok(Stamp::File(file.to_owned(), about.len(), about.modified().ok()))
}

fn io_problem(path: &Path, error: &std::io::Error) -> ReadProblem {
    match error.kind() {
        std::io::ErrorKind::NotFound => ReadProblem::Missing(path.display().to_string()),
        _ => ReadProblem::Unreadable(format!("{} cannot be read: {error}", path.display())),
    }
}

/// The session of a file, and its archive where the file has one; with `follows` also what reads on when it grows. Linear in
/// the file.
fn read_whole(
    path: &Path,
    format: Option<Format>,
    wanted: Option<&str>,
    follows: bool,
) -> Result<(Session, Option<SessionArchive>, Option<Growth>), ReadProblem> {
    let unreadable = |problem: String| ReadProblem::Unreadable(format!("{}: {problem}", path.display()));
    let bytes = fs::read(path).map_err(|error| io_problem(path, &error))?;
    if format.is_none() && SessionFile::is_one(&bytes) {
        let opened = SessionFile::parse(path, &bytes).map_err(|error| unreadable(error.to_string()))?;
        return Ok((opened.session, Some(opened.archive), None));
    }
    let size = bytes.len();
    let loaded = read(bytes, ReadOptions { format, strict: false, ..ReadOptions::default() })
        .map_err(|error| unreadable(error.to_string()))?;
    let number = session_number(&loaded, wanted).map_err(unreadable)?;
    let is_plain = !loaded.gzip && loaded.bytes.len() == size;
    let growth = if follows && is_plain { Growth::new(path, loaded.format, &loaded.bytes) } else { None };
    let session = loaded.sessions.into_iter().nth(number).map(|it| it.session);
    session.map(|session| (session, None, growth)).ok_or_else(|| unreadable("it holds no session".to_owned()))
}

fn session_number(loaded: &LoadedFile, wanted: Option<&str>) -> Result<usize, String> {
    let names: Vec<&str> = loaded.sessions.iter().map(|session| session.name.as_str()).collect();
    let listed = || names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    match wanted {
        None if names.len() == 1 => Ok(0),
        None => Err(format!("it holds {} sessions, choose one with --session: {}", names.len(), listed())),
        Some(wanted) => {
            let by_number = || wanted.parse::<usize>().ok().filter(|number| *number < names.len());
            let found = names.iter().position(|name| *name == wanted).or_else(by_number);
            found.ok_or_else(|| format!("it holds no session `{wanted}`, but {}", listed()))
        }
    }
}

/// The `.jsonl` and `.json` files in a folder at any depth, the one that was changed last first.
fn newest_files(path: &Path) -> Result<Vec<PathBuf>, ReadProblem> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    let (mut folders, mut seen) = (vec![(path.to_owned(), 0)], 0);
    while let Some((folder, depth)) = folders.pop() {
        // Files and folders come and go while they are listed.
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(io_problem(&folder, &error)),
            Err(_) => continue,
        };
        for entry in entries.filter_map(Result::ok) {
            seen += 1;
            if seen > MOST_FILES {
                let problem = format!("{} holds more than {MOST_FILES} files: name one", path.display());
                return Err(ReadProblem::Unreadable(problem));
            }
            let (Ok(kind), file) = (entry.file_type(), entry.path()) else { continue };
            if kind.is_dir() {
                let is_searched = depth < DEPTH && entry.file_name() != PASSED_OVER;
                folders.extend(is_searched.then(|| (file, depth + 1)));
                continue;
            }
            let is_session = file.extension().is_some_and(|end| end == "jsonl" || end == "json");
            if is_session && let Some(changed) = entry.metadata().ok().and_then(|about| about.modified().ok()) {
                files.push((changed, file));
            }
        }
    }
    if files.is_empty() {
        return Err(ReadProblem::Missing(format!("a .jsonl or .json file in {}", path.display())));
    }
    files.sort_unstable_by(|one, other| other.cmp(one));
    Ok(files.into_iter().map(|(_, file)| file).collect())
}
