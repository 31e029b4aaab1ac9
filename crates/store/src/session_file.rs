//! A session in a file of its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome_session::{Epoch, Message, Session};
use epitome_strategy::ArchivedContent;
use serde::Serialize;

use crate::archive::{Locator, SessionArchive};
use crate::checkpoint::Checkpoint;
use crate::disk::{Disk as _, LogFile, open_locked, write_whole};
use crate::error::StoreError;
use crate::record::{Header, RecordRef, VERSION};
use crate::replay::{ReplayedSession, replay};
use crate::steps::{SessionChange, items_by_epoch, steps};

/// A session that is kept in a file, open for writing and locked.
///
/// The host keeps session and archive in memory and reports each change to the file, in the same order: each message
/// that was pushed, each epoch that was committed, each undo. A process that is killed at any moment leaves a file that
/// holds everything up to one of these calls, and nothing of the next.
#[derive(Debug)]
pub struct SessionFile {
    log: LogFile,
    messages: usize,
    /// Which epochs there are, and which were undone.
    undone: Vec<bool>,
    sync_appends: bool,
}

/// A session as it was found in its file.
#[derive(Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// The session's archive.
    pub archive: SessionArchive,
    /// A description of the incomplete write that was found at the end, which is not part of the session.
    pub repaired: Option<String>,
}

impl SessionFile {
    /// Makes a file of a session and its archive and keeps it open: all or nothing. Errors where the file exists.
    ///
    /// The archive's items are stored with the epochs that name them; items that no epoch names are stored with the
    /// last one, and stay pending where there is no epoch. A session does not record when an epoch was undone: the file
    /// undoes it directly behind its commit, which gives the same log, journal, view and state hash. The id is the one
    /// that the session has now.
    pub fn create(
        path: impl Into<PathBuf>,
        session: &Session,
        archive: &mut SessionArchive,
    ) -> Result<Self, StoreError> {
        Self::write(path.into(), session, archive, false)
    }

    /// Puts the session as it is in memory in place of what the file holds, all or nothing. Also after a failed write.
    /// When it fails, the file takes no more records until it is opened again.
    pub fn rewrite(&mut self, session: &Session, archive: &mut SessionArchive) -> Result<(), StoreError> {
        let path = self.log.path().to_owned();
        match Self::write(path, session, archive, true) {
            Ok(new) => {
                *self = Self { sync_appends: self.sync_appends, ..new };
                Ok(())
            }
            Err(error) => {
                // Which of the two files has the name is not known.
                self.log.fail();
                Err(error)
            }
        }
    }

    fn write(
        path: PathBuf,
        session: &Session,
        archive: &mut SessionArchive,
        replace: bool,
    ) -> Result<Self, StoreError> {
        let bytes = whole(session, archive).map_err(|source| StoreError::NotJson { path: path.clone(), source })?;
        let file = write_whole(&path, &bytes, replace)?;
        if !session.journal().is_empty() {
            archive.all_stored();
        }
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(Self::over(LogFile::new(path, Box::new(file), bytes.len() as u64, lines), session))
    }

    /// Opens a stored session: what an interrupted write left at its end is cut off, and said. Linear in the file.
    ///
    /// Errors where the file is not there, is in use, is not a stored session or one of a later version, or is damaged
    /// anywhere but at its end; then nothing is changed.
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, OpenedSession), StoreError> {
        let path = path.into();
        let mut file = open_locked(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(StoreError::io("reading", &path))?;
        let ReplayedSession { session, archive, length, lines, torn } = replay(&path, &bytes)?;
        if torn.is_some() {
            file.cut(length).and_then(|()| file.sync()).map_err(StoreError::io("repairing", &path))?;
        }
        let repaired = torn.map(|torn| format!("cut off what an interrupted write left: {torn}"));
        let log = LogFile::new(path, Box::new(file), length, lines);
        Ok((Self::over(log, &session), OpenedSession { session, archive, repaired }))
    }

    /// Reads a stored session without locking or changing its file, also while another process writes to it.
    pub fn read(path: impl AsRef<Path>) -> Result<OpenedSession, StoreError> {
        let path = path.as_ref();
        let bytes = epitome_shelf::read_plain(path).map_err(StoreError::io("reading", path))?;
        Self::parse(path, &bytes)
    }

    /// Whether the content of a file begins as that of a stored session does. Costs the first line.
    pub fn is_one(bytes: &[u8]) -> bool {
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|header| header["epitome"].is_u64())
    }

    /// Reads a stored session from the content of its file, which errors call `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<OpenedSession, StoreError> {
        let ReplayedSession { session, archive, torn, .. } = replay(path, bytes)?;
        let repaired = torn.map(|torn| format!("left out what is not written to its end: {torn}"));
        Ok(OpenedSession { session, archive, repaired })
    }

    /// The content of this file after an undo of the epoch: its whole records, and the undo behind them. Errors call
    /// the file `path`. Nothing is written. Linear in the file.
    ///
    /// Errors where the file is not a stored session, is damaged, or its session cannot undo the epoch.
    pub fn undone(path: &Path, bytes: &[u8], epoch: u32) -> Result<Vec<u8>, StoreError> {
        let ReplayedSession { mut session, length, .. } = replay(path, bytes)?;
        let out_of_step = |problem: String| StoreError::OutOfStep { path: path.to_owned(), problem };
        session.undo(epoch).map_err(|error| out_of_step(error.to_string()))?;
        let mut content = bytes.get(..length as usize).unwrap_or(bytes).to_vec();
        let not_json = |source| StoreError::NotJson { path: path.to_owned(), source };
        write_line(&mut content, &RecordRef::Undo(epoch)).map_err(not_json)?;
        Ok(content)
    }

    pub(crate) fn over(log: LogFile, session: &Session) -> Self {
        let undone = session.journal().iter().map(|epoch| epoch.undone).collect();
        Self { log, messages: session.log().len(), undone, sync_appends: false }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Whether each message is on the disk when [`append`](Self::append) returns. By default it is only passed to the
    /// operating system: it survives the end of the process, but maybe not a loss of power. Compactions and undos are
    /// always on the disk.
    pub fn set_sync_appends(&mut self, sync_appends: bool) {
        self.sync_appends = sync_appends;
    }

    /// Stores a message that was pushed to the session. Costs the message's own length: one write.
    pub fn append(&mut self, message: &Message) -> Result<(), StoreError> {
        let line = self.line(&RecordRef::Message(message))?;
        self.log.append(&line, self.sync_appends)?;
        self.messages += 1;
        Ok(())
    }

    /// Stores the tool definitions of the session, or that it has none.
    pub fn set_tools(&mut self, tools: Option<&str>) -> Result<(), StoreError> {
        let line = self.line(&RecordRef::Tools(tools))?;
        self.log.append(&line, self.sync_appends)
    }

    /// Stores the newest epoch of the session together with the archive's pending items, in one write, and waits until
    /// it is on the disk. Linear in the number of messages and in the items.
    ///
    /// Errors where the session has another number of messages or epochs than the file would then have. On an error the
    /// pending items stay pending, and the file is as before.
    pub fn commit(&mut self, session: &Session, archive: &mut SessionArchive) -> Result<(), StoreError> {
        let has = (session.log().len(), session.journal().len());
        let expected = (self.messages, self.undone.len() + 1);
        let epoch = session.journal().last().filter(|epoch| has == expected && !epoch.undone);
        let epoch = epoch.ok_or_else(|| StoreError::OutOfStep {
            path: self.path().to_owned(),
            problem: format!(
                "the session has {} messages and {} compactions; with this one, the file has {} and {}",
                has.0, has.1, expected.0, expected.1
            ),
        })?;
        let mut lines = Vec::new();
        let mut locator = Locator::new(session);
        write_epoch(&mut lines, &mut locator, archive.pending_items(), epoch).map_err(|error| self.not_json(error))?;
        self.log.append(&lines, true)?;
        archive.all_stored();
        self.undone.push(false);
        Ok(())
    }

    /// Stores that an epoch was undone, after [`Session::undo`] did it, and waits until that is on the disk.
    pub fn undo(&mut self, epoch: u32) -> Result<(), StoreError> {
        let problem = match self.undone.get(epoch as usize) {
            Some(false) => None,
            Some(true) => Some(format!("compaction {epoch} is undone already in the file")),
            None => Some(format!("compaction {epoch} is undone, the file has {}", self.undone.len())),
        };
        if let Some(problem) = problem {
            return Err(StoreError::OutOfStep { path: self.path().to_owned(), problem });
        }
        let line = self.line(&RecordRef::Undo(epoch))?;
        self.log.append(&line, true)?;
        self.undone[epoch as usize] = true;
        Ok(())
    }

    /// Waits until everything that was stored is on the disk.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.log.sync()
    }

    fn line(&self, record: &RecordRef<'_>) -> Result<Vec<u8>, StoreError> {
        let mut line = Vec::new();
        write_line(&mut line, record).map_err(|error| self.not_json(error))?;
        Ok(line)
    }

    fn not_json(&self, source: serde_json::Error) -> StoreError {
        StoreError::NotJson { path: self.path().to_owned(), source }
    }
}

fn write_line(lines: &mut Vec<u8>, record: &impl Serialize) -> Result<(), serde_json::Error> {
    serde_json::to_writer(&mut *lines, record)?;
    lines.push(b'\n');
    Ok(())
}

/// The items of an epoch and the epoch.
fn write_epoch<'i>(
    lines: &mut Vec<u8>,
    locator: &mut Locator<'_>,
    items: impl Iterator<Item = (&'i Arc<str>, &'i ArchivedContent)>,
    epoch: &Epoch,
) -> Result<(), serde_json::Error> {
    let mut count = 0;
    for (handle, item) in items {
        write_line(lines, &RecordRef::Archived(locator.stored(handle, item)))?;
        count += 1;
    }
    write_line(lines, &RecordRef::Compaction { items: count, epoch })
}

/// A whole file: what a session holds, in the order in which it came about.
fn whole(session: &Session, archive: &SessionArchive) -> Result<Vec<u8>, serde_json::Error> {
    let mut lines = Vec::new();
    write_line(&mut lines, &Header { epitome: VERSION, id: session.id.clone() })?;
    if let Some(tools) = &session.tools {
        write_line(&mut lines, &RecordRef::Tools(Some(tools)))?;
    }
    let mut locator = Locator::new(session);
    for step in steps(session, items_by_epoch(session, archive), &Checkpoint::default()) {
        match step {
            SessionChange::Message(message) => write_line(&mut lines, &RecordRef::Message(message))?,
            SessionChange::Compaction(epoch, items) => {
                write_epoch(&mut lines, &mut locator, items.into_iter(), &epoch)?
            }
            SessionChange::Undo(epoch) => write_line(&mut lines, &RecordRef::Undo(epoch))?,
        }
    }
    Ok(lines)
}

#[cfg(test)]
#[path = "session_file_tests.rs"]
mod tests;
