//! Files: locking them, replacing them whole, appending to them.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use epitome_shelf::{PendingFile, Privacy, identity, identity_at};

use crate::error::StoreError;

/// The target of a log of lines: a file, or in tests a file on a disk that fills up.
pub(crate) trait Disk: Debug + Send + Sync {
    /// Writes all of `bytes` at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits until everything is on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts off everything behind the first `length` bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Disk for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}

/// A file that is locked until it is dropped. Closing it would not do: a process that is being started elsewhere in the
/// program holds copies of all open files for a moment, and with them the lock.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Locks `file`; an error where another process holds the lock.
    fn new(file: File, path: &Path) -> Result<Self, StoreError> {
        check_lock(file.try_lock(), path)?;
        Ok(Self(file))
    }
}

/// The result of locking the file at `path`.
fn check_lock(locked: Result<(), TryLockError>, path: &Path) -> Result<(), StoreError> {
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Locked { path: path.to_owned() },
        TryLockError::Error(source) => StoreError::Io { doing: "locking", path: path.to_owned(), source },
    })
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Where this fails, the lock ends with the last copy of the file.
        self.0.unlock().ok();
    }
}

impl Read for LockedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Disk for LockedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.cut(length)
    }
}

/// A file of whole lines that only grows.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    disk: Box<dyn Disk>,
    /// Bytes of its whole lines.
    length: u64,
    /// The number of lines.
    lines: u64,
    failed: bool,
}

impl LogFile {
    /// A log that continues after `length` bytes, where the disk's position is.
    pub(crate) fn new(path: PathBuf, disk: Box<dyn Disk>, length: u64, lines: u64) -> Self {
        Self { path, disk, length, lines, failed: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends whole lines in one write. When that fails, the incomplete write is cut off again, and the log accepts no
    /// more lines: the disk's content is not known until it is read again.
    pub(crate) fn append(&mut self, lines: &[u8], sync: bool) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Failed { path: self.path.clone() });
        }
        let written = self.disk.append(lines).and_then(|()| if sync { self.disk.sync() } else { Ok(()) });
        if let Err(source) = written {
            self.failed = true;
            // Should this fail too, opening the file cuts it.
            self.disk.cut(self.length).and_then(|()| self.disk.sync()).ok();
            return Err(StoreError::Write { path: self.path.clone(), lines: self.lines, source });
        }
        self.length += lines.len() as u64;
        self.lines += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(())
    }

    /// Takes no more from now on.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Waits until everything that was appended is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        self.append(&[], true)
    }
}

/// Opens an existing file for reading and writing and locks it; an error when it is locked already. The lock ends with
/// the handle.
pub(crate) fn open_locked(path: &Path) -> Result<LockedFile, StoreError> {
    loop {
        epitome_shelf::check_plain(path).map_err(StoreError::io("opening", path))?;
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(StoreError::io("opening", path))?;
        let file = LockedFile::new(file, path)?;
        // Its owner may have put another file in its place between the two calls: the lock would be one on nothing.
        if is_at(&file.0, path).map_err(StoreError::io("looking at", path))? {
            return Ok(file);
        }
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(identity(file)? == identity_at(path)?)
}

/// Makes a file of exactly these bytes, all or nothing, and returns it locked, standing at its end: the bytes go to
/// another file in the same folder, to the disk, and then get the name. An existing file stays, with an error, unless it
/// is to be replaced: then its owner and mode stay, and a link to it stays one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], replace: bool) -> Result<LockedFile, StoreError> {
    let there = replace.then(|| fs::canonicalize(path).ok()).flatten();
    let path = there.as_deref().unwrap_or(path);
    let pending = PendingFile::new(path, Privacy::Shared).map_err(StoreError::io("creating a file beside", path))?;
    let own = pending.path().to_owned();
    let here = |doing| StoreError::io(doing, &own);
    if let Some(there) = &there {
        let metadata = fs::metadata(there).map_err(StoreError::io("looking at", there))?;
        pending.copy_metadata(&metadata).map_err(here("giving the owner and mode of the old file to"))?;
    }
    pending.file().write_all(bytes).and_then(|()| pending.file().sync_all()).map_err(here("writing"))?;
    check_lock(pending.file().try_lock(), pending.path())?;
    let file = match replace {
        true => pending.replace().map_err(StoreError::io("replacing", path))?,
        false => pending.name().map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { path: path.to_owned() },
            _ => StoreError::Io { doing: "creating", path: path.to_owned(), source },
        })?,
    };
    sync_folder(path)?;
    Ok(LockedFile(file))
}

/// Waits until the names in the file's folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("syncing", folder))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_lock_ends_with_its_owner_and_not_with_the_last_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let locked = write_whole(&path, b"one\n", false).unwrap();
        let copy = locked.0.try_clone().unwrap(); // as a process that is being started has one
        assert!(matches!(open_locked(&path), Err(StoreError::Locked { .. })));
        drop(locked);
        open_locked(&path).unwrap();
        drop(copy);
    }
}
