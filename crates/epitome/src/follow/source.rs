//! A session in a file that an agent is still writing, or in the newest file of a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use epitome_formats::{Format, LoadedFile, ReadOptions, RecordedModel, recorded_model};
use epitome_session::Session;
use epitome_store::{SessionArchive, SessionFile};

use super::folder::newest_files;
use super::growth::Growth;
use super::problem::{ReadProblem, io_problem};
use super::rollouts::read_session_file;

/// The most files of a folder that are read in search of a session, the newest first.
const TRIES: usize = 16;

/// The name of the format of the files in which epitome itself keeps sessions.
const OWN_FORMAT: &str = "epitome";

/// The state of a session's file, compared to notice changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

/// A session at its last reading.
#[derive(Debug)]
pub struct FollowedSession {
    stamp: Stamp,
    /// The format's name; `epitome` for a file in which epitome keeps a session.
    pub format: &'static str,
    /// The session.
    pub session: Session,
    /// What left its context, where the file holds that.
    pub archive: Option<SessionArchive>,
    /// The model that the file names last.
    pub model: RecordedModel,
    /// What the session continues in another file and is not there, and why: see [`LoadedFile::missing_history`].
    pub missing: Option<String>,
    /// The reader of appended records; `None` until the file has grown once.
    growth: Option<Growth>,
}

impl FollowedSession {
    /// The session's file.
    pub fn path(&self) -> &Path {
        &self.stamp.path
    }

    /// When the file was last changed, where the system says that.
    pub fn modified(&self) -> Option<SystemTime> {
        self.stamp.modified
    }
}

/// Reads one session again and again: that of a file, or the newest of a folder.
#[derive(Debug)]
pub struct SessionSource {
    path: PathBuf,
    format: Option<Format>,
    /// The session's name or number, where a file has several.
    wanted: Option<String>,
    known: Option<FollowedSession>,
    /// Newer files of the folder that are not sessions, and why: they are read again only after a change.
    passed: Vec<(Stamp, ReadProblem)>,
}

impl SessionSource {
    /// The source of the session in a file, or of the newest `.jsonl` or `.json` file of a folder that reads as a session.
    /// `format` is detected where it is not given; `session` is a name or a number, where a file has several. Reads
    /// nothing yet.
    pub fn new(path: impl Into<PathBuf>, format: Option<Format>, session: Option<String>) -> Self {
        Self { path: path.into(), format, wanted: session, known: None, passed: Vec::new() }
    }

    /// The session as it was read last; `None` before it was.
    pub fn current(&self) -> Option<&FollowedSession> {
        self.known.as_ref()
    }

    /// Reads the session where it has changed since the last time; whether it had. The file of an agent that appends to it
    /// (Claude Code, Codex, Pi) is read whole twice, then only its new records; others are read whole. A last line that is
    /// not whole yet is left for the next time. After an error the session is as it was.
    ///
    /// # Errors
    ///
    /// There is no such file or folder, or it cannot be read as a session at the moment.
    pub fn refresh(&mut self) -> Result<bool, ReadProblem> {
        if self.path.is_dir() {
            return self.refresh_from_folder();
        }
        let stamp = stamp_of(&self.path)?;
        if self.is_at(&stamp) {
            return Ok(false);
        }
        self.known = Some(self.read_file(stamp)?);
        Ok(true)
    }

    /// The same, but of a folder only the file of the last reading is looked at, and no newer one searched for.
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh).
    pub fn refresh_current(&mut self) -> Result<bool, ReadProblem> {
        let Some(known) = &self.known else { return self.refresh() };
        let stamp = stamp_of(&known.stamp.path)?;
        if self.is_at(&stamp) {
            return Ok(false);
        }
        self.known = Some(self.read_file(stamp)?);
        Ok(true)
    }

    fn is_at(&self, stamp: &Stamp) -> bool {
        self.known.as_ref().is_some_and(|known| known.stamp == *stamp)
    }

    /// Reads a file: only the appended part, where it is the known one and has only grown; else the whole of it.
    fn read_file(&mut self, stamp: Stamp) -> Result<FollowedSession, ReadProblem> {
        let known = self.known.as_mut().filter(|known| known.stamp.path == stamp.path);
        let is_known = known.is_some();
        // A session that is chosen by its name is looked up each time, because another one may have the name by now.
        if let Some(known) = known.filter(|_| self.wanted.is_none())
            && let Some(growth) = known.growth.take()
            && let Some((growth, session, model)) = growth.read_on(&stamp.path)
        {
            let model = model.or(&known.model);
            return Ok(FollowedSession {
                stamp,
                format: known.format,
                session,
                archive: None,
                model,
                missing: None,
                growth: Some(growth),
            });
        }
        read_whole(stamp, self.format, self.wanted.as_deref(), is_known)
    }

    /// Takes the newest file of the folder that reads as a session.
    fn refresh_from_folder(&mut self) -> Result<bool, ReadProblem> {
        let mut passed = Vec::new();
        for file in newest_files(&self.path)?.into_iter().take(TRIES) {
            // It may have gone since the folder was listed.
            let Ok(stamp) = stamp_of(&file) else { continue };
            if self.is_at(&stamp) {
                self.passed = passed;
                return Ok(false);
            }
            if let Some(before) = self.passed.iter().position(|(before, _)| *before == stamp) {
                passed.push(self.passed.swap_remove(before));
                continue;
            }
            let problem = match self.read_file(stamp.clone()) {
                Ok(read) if read.session.log().is_empty() => {
                    ReadProblem::Unreadable(format!("{}: nothing was said in it", file.display()))
                }
                Ok(read) => {
                    self.known = Some(read);
                    self.passed = passed;
                    return Ok(true);
                }
                Err(problem) => problem,
            };
            if self.known.as_ref().is_some_and(|known| known.stamp.path == file) {
                // The session of the last answer is still the chosen one, not an older one.
                self.passed = passed;
                return Err(problem);
            }
            passed.push((stamp, problem));
        }
        let why = passed.first().map_or_else(String::new, |(_, problem)| format!(" (of its newest file: {problem})"));
        self.passed = passed;
        Err(ReadProblem::Missing(format!("a session in the .jsonl or .json files of {}{why}", self.path.display())))
    }
}

fn stamp_of(file: &Path) -> Result<Stamp, ReadProblem> {
    let about = fs::metadata(file).map_err(|error| io_problem(file, &error))?;
    Ok(Stamp { path: file.to_owned(), length: about.len(), modified: about.modified().ok() })
}

/// Returns the session of a file, and its archive where the file has one; with `follows` also the reader of later
/// records. Linear in the file.
fn read_whole(
    stamp: Stamp,
    format: Option<Format>,
    wanted: Option<&str>,
    follows: bool,
) -> Result<FollowedSession, ReadProblem> {
    let path = &stamp.path;
    let unreadable = |problem: String| ReadProblem::Unreadable(format!("{}: {problem}", path.display()));
    let bytes = epitome_shelf::read_plain(path).map_err(|error| io_problem(path, &error))?;
    if format.is_none() && SessionFile::is_one(&bytes) {
        let opened = SessionFile::parse(path, &bytes).map_err(|error| unreadable(error.to_string()))?;
        let (session, archive) = (opened.session, Some(opened.archive));
        let model = RecordedModel::default();
        return Ok(FollowedSession { stamp, format: OWN_FORMAT, session, archive, model, missing: None, growth: None });
    }
    let size = bytes.len();
    let loaded = read_session_file(path, bytes, ReadOptions { format, strict: false, ..ReadOptions::default() })
        .map_err(|error| unreadable(error.to_string()))?;
    let number = session_number(&loaded, wanted)
        .map_err(|problem| ReadProblem::Unchosen(format!("{}: {problem}", path.display())))?;
    let is_plain = !loaded.gzip && loaded.bytes.len() == size;
    let growth = if follows && is_plain { Growth::new(path, &loaded) } else { None };
    let model = recorded_model(loaded.format, &loaded.bytes);
    let format = loaded.format.as_str();
    let missing = loaded.sessions.get(number).and_then(|read| loaded.missing_history(&read.session));
    let Some(read) = loaded.sessions.into_iter().nth(number) else {
        return Err(unreadable("it holds no session".to_owned()));
    };
    Ok(FollowedSession { stamp, format, session: read.session, archive: None, model, missing, growth })
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

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
