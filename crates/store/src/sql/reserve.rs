//! Room that is kept beside a database, so that something can be deleted when the disk is full: a deletion is written too,
//! before it frees anything.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Bytes that are kept: the pages of a session of thousands of messages that its deletion changes, with their index.
const BYTES: usize = 2 << 20;

/// A file that takes room, and gives it up.
#[derive(Debug)]
pub(super) struct Reserve(PathBuf);

impl Reserve {
    /// The room beside a database; `None` for one that is an address.
    pub(super) fn beside(database: &Path) -> Option<Self> {
        if database.to_str().is_some_and(|path| path.starts_with("file:")) {
            return None;
        }
        let mut name = OsString::from(database);
        name.push("-reserve");
        let reserve = Self(name.into());
        reserve.fill();
        Some(reserve)
    }

    /// Takes the room, where it is not taken. Where there is none, a later call does it.
    pub(super) fn fill(&self) {
        if fs::metadata(&self.0).is_ok_and(|there| there.len() >= BYTES as u64) {
            return;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Bytes, and not a length alone: a file with holes takes no room.
        let filled = options.open(&self.0).and_then(|mut file| file.write_all(&vec![b' '; BYTES]));
        if filled.is_err() {
            self.release();
        }
    }

    /// Gives the room up.
    pub(super) fn release(&self) {
        // Where it is gone, there is nothing to give up.
        let _ = fs::remove_file(&self.0);
    }
}
