//! Which session of a folder asks: by what its client says of it, and otherwise only where no other one can be meant.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use epitome::follow::{ReadProblem, newest_files};
use serde_json::{Map, Value};

/// Bytes at the end of a file that are searched for the call that asks: it is among the newest records.
const TAIL: u64 = 4 << 20;

/// Bytes at the beginning of a file in which its working folder is looked for.
const HEAD: u64 = 256 << 10;

/// The most files that are looked into, the newest first.
const MOST_FILES: usize = 200;

/// The folder in which Claude Code keeps the logs of a session's helpers, in a folder of the session's name.
const HELPERS: &str = "subagents";

/// What a client says of the session that asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOrigin {
    /// The session's id, by which its file is named.
    pub session: Option<String>,
    /// The id of the model's call, as the session's file has it.
    pub call: Option<String>,
}

impl CallOrigin {
    /// Reads a request's `_meta`: Codex' `threadId`, `callId` and turn metadata, Claude Code's `claudecode/toolUseId`.
    /// Source: what Codex 0.171.0 and Claude Code 2.1.332 send.
    pub fn read(meta: &Map<String, Value>) -> Self {
        let text = |value: Option<&Value>| value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let turn = meta.get("x-codex-turn-metadata");
        let of_turn = || text(turn?.get("thread_id"));
        let call = || text(meta.get("claudecode/toolUseId"));
        Self { session: text(meta.get("threadId")).or_else(of_turn), call: text(meta.get("callId")).or_else(call) }
    }

    /// The same as a request's `_meta`, for a service that the request goes on to.
    pub(crate) fn meta(&self) -> Map<String, Value> {
        let named = [("threadId", &self.session), ("callId", &self.call)];
        named.into_iter().filter_map(|(name, id)| Some((name.to_owned(), id.as_deref()?.into()))).collect()
    }
}

/// A folder with the sessions of several agents, of which one asks.
#[derive(Debug, Clone)]
pub struct SharedFolder {
    path: PathBuf,
    /// The folder in which the client works; `None` where all sessions are of one such folder.
    works_in: Option<PathBuf>,
    /// The session that the client was started for, where it says so.
    started_for: Option<String>,
    /// When the client came: its own session is changed later than that.
    since: SystemTime,
}

impl SharedFolder {
    /// The sessions in a folder, at any depth. `works_in` is the client's own working folder: sessions of another one are
    /// never taken without an id. Reads nothing yet.
    pub fn new(path: impl Into<PathBuf>, works_in: Option<PathBuf>) -> Self {
        let works_in = works_in.map(|folder| fs::canonicalize(&folder).unwrap_or(folder));
        Self { path: path.into(), works_in, started_for: None, since: SystemTime::now() }
    }

    /// The session that the client was started for: it is meant where neither the session nor the call that asks is known.
    #[must_use]
    pub fn started_for(self, session: Option<String>) -> Self {
        Self { started_for: session, ..self }
    }

    /// Checks that there are sessions. Reads the names of the files.
    ///
    /// # Errors
    ///
    /// The folder is not there, cannot be read, or holds no file of a session.
    pub(crate) fn check(&self) -> Result<(), ReadProblem> {
        self.files().map(drop)
    }

    /// Whether a session has the call that asks, as far as its file is written. Reads the ends of the newest files.
    pub fn has_call(&self, call: &str) -> bool {
        self.files().is_ok_and(|files| !self.files_with(&files, call).is_empty())
    }

    /// The file of the session that asks: that of its id; else that with its call; else that which the client was started
    /// for; else the only one that can be meant.
    ///
    /// # Errors
    ///
    /// There is no such file, several can be meant, or the folder cannot be read.
    pub fn file_of(&self, origin: &CallOrigin) -> Result<PathBuf, ReadProblem> {
        let files = self.files()?;
        let named = |id: &str| files.iter().find(|file| is_named(file, id)).cloned();
        let missing = |id: &str| ReadProblem::Missing(format!("a file of session `{id}` in {}", self.path.display()));
        if let Some(id) = &origin.session {
            return named(id).ok_or_else(|| missing(id));
        }
        let started = self.started_for.as_deref().and_then(named);
        let with_call = origin.call.as_ref().map(|call| self.files_with(&files, call)).unwrap_or_default();
        match (with_call.as_slice(), started) {
            ([only], _) => Ok(only.clone()),
            ([], Some(started)) => Ok(started),
            (several, Some(started)) if several.contains(&started) => Ok(started),
            ([], None) => match &self.started_for {
                Some(id) => Err(missing(id)),
                None => self.only_one(&files),
            },
            (several, _) => Err(several_meant(several.len())),
        }
    }

    fn files(&self) -> Result<Vec<PathBuf>, ReadProblem> {
        newest_files(&self.path)
    }

    /// The files of the client's folder that have a call, each for its session: a helper's for that which started it.
    fn files_with(&self, files: &[PathBuf], call: &str) -> Vec<PathBuf> {
        let quoted = Value::from(call).to_string();
        let newest = files.iter().take(MOST_FILES);
        let has = |file: &&PathBuf| ends_with(file, &quoted) || helpers_of(file).any(|log| ends_with(&log, &quoted));
        newest.filter(has).filter(|file| self.is_own(file)).cloned().collect()
    }

    /// The only session of the client's folder that was changed since the client came, or else the only one of all.
    fn only_one(&self, files: &[PathBuf]) -> Result<PathBuf, ReadProblem> {
        let changed = |file: &&PathBuf| {
            fs::metadata(file).and_then(|about| about.modified()).is_ok_and(|changed| changed >= self.since)
        };
        let own: Vec<&PathBuf> = files.iter().take(MOST_FILES).filter(|file| self.is_own(file)).collect();
        let live: Vec<&PathBuf> = own.iter().copied().filter(changed).collect();
        match (live.as_slice(), own.as_slice()) {
            ([only], _) | ([], [only]) => Ok((*only).clone()),
            ([], []) => Err(ReadProblem::Missing(format!("a session of this folder in {}", self.path.display()))),
            ([], several) | (several, _) => Err(several_meant(several.len())),
        }
    }

    /// Whether a session may be of the client's working folder: one that names no folder may.
    fn is_own(&self, file: &Path) -> bool {
        let Some(own) = &self.works_in else { return true };
        working_folder(file).is_none_or(|folder| fs::canonicalize(&folder).unwrap_or(folder) == *own)
    }
}

fn several_meant(count: usize) -> ReadProblem {
    ReadProblem::Unchosen(format!(
        "{count} sessions of this folder may be meant, and the client does not say which one asks; \
         `epitome mcp FILE` answers for one"
    ))
}

/// Whether a file is that of a session: named by its id, or with it at the end of its name.
fn is_named(file: &Path, id: &str) -> bool {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    stem.strip_suffix(id).is_some_and(|rest| !id.is_empty() && (rest.is_empty() || rest.ends_with(['-', '_'])))
}

/// The logs of a session's helpers.
fn helpers_of(file: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = fs::read_dir(file.with_extension("").join(HELPERS));
    folder.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Whether the end of a file has a text.
fn ends_with(file: &Path, text: &str) -> bool {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}

/// The working folder that a session's file names in its first records: Claude Code's, Codex' and Copilot's.
fn working_folder(file: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let records = head.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let named = |record: Value| {
        let places = ["/cwd", "/payload/cwd", "/data/context/cwd"];
        let folder = places.iter().find_map(|place| record.pointer(place)?.as_str().map(PathBuf::from));
        folder.filter(|folder| folder.is_absolute())
    };
    records.into_iter().find_map(named)
}

#[cfg(test)]
#[path = "call_origin_tests.rs"]
mod tests;
