//! Output that goes into the input's own file, which another program may be writing to: nothing of what it writes is lost.
//!
//! Output that only adds is appended to the very file that was read, so that owner, mode and every link stay, and a
//! program that holds it open continues in it. It is appended in one write, and only where the file is still what was
//! read; a file that has grown is read again. Agents take no lock, so a line may still slip in between the check and
//! the write: it is then in front of the appended text, which is detected, and the caller records the view again.
//! Output that replaces is renamed over the file, where nothing changed since it was read.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use epitome_shelf::{check_plain, identity};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::replace::{cannot_write, replace};

/// The pause between tries while another program holds a lock or has not ended its line: half a second in all, after
/// which the command says that the file is busy. A lock could be held for ever, and no signal tells when a program
/// without locks has ended its line.
const PAUSE: Duration = Duration::from_millis(20);

/// The first bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The file that the input was read from, as it was then.
#[derive(Debug)]
pub(crate) struct Original {
    path: PathBuf,
    /// The system's identity of the file, whatever its name: its device and number.
    identity: Option<(u64, u64)>,
    length: u64,
    hash: blake3::Hash,
    is_gzip: bool,
    /// Whether the file ends within a line: its writer has not completed that line.
    is_unfinished: bool,
}

/// The outcome of output to the input's own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InPlaceOutcome {
    /// The file holds the output, directly behind the content that was read.
    Whole,
    /// The file holds it, but behind lines that came when it was written.
    Behind,
    /// The file has changed since it was read. Nothing was written.
    Changed,
}

impl Original {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> io::Result<(Self, Vec<u8>)> {
        check_plain(path)?;
        let mut file = File::open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let is_gzip = bytes.starts_with(&GZIP);
        let original = Self {
            path: path.to_owned(),
            identity: identity(&file)?,
            length: bytes.len() as u64,
            hash: blake3::hash(&bytes),
            is_gzip,
            is_unfinished: !is_gzip && ends_within_a_line(&bytes),
        };
        Ok((original, bytes))
    }

    /// Appends `addition`, whole lines, compressed where the file is, and waits until it is on the disk.
    pub(crate) fn append(&self, addition: &[u8]) -> Result<InPlaceOutcome, Failure> {
        let failed = |error: io::Error| cannot_write(&self.path, error);
        check_plain(&self.path).map_err(failed)?;
        let mut file = OpenOptions::new().read(true).append(true).open(&self.path).map_err(failed)?;
        if self.is_unfinished || !lock(&file).map_err(failed)? {
            thread::sleep(PAUSE);
            return Ok(InPlaceOutcome::Changed);
        }
        let addition = if self.is_gzip { gzip(addition).map_err(failed)? } else { addition.to_vec() };
        if !self.is_same(&mut file).map_err(failed)? {
            return Ok(InPlaceOutcome::Changed);
        }
        let end = append_at_once(&mut file, self.length, &addition).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        Ok(if end == self.length + addition.len() as u64 { InPlaceOutcome::Whole } else { InPlaceOutcome::Behind })
    }

    /// Puts `bytes` in place of the file.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<InPlaceOutcome, Failure> {
        let failed = |error: io::Error| cannot_write(&self.path, error);
        let mut file = File::open(&self.path).map_err(failed)?;
        if !lock(&file).map_err(failed)? {
            thread::sleep(PAUSE);
            return Ok(InPlaceOutcome::Changed);
        }
        let mut is_same = true;
        let look = || {
            is_same = self.is_same(&mut file)?;
            Ok(is_same)
        };
        replace(&self.path, bytes, look).map_err(failed)?;
        Ok(if is_same { InPlaceOutcome::Whole } else { InPlaceOutcome::Changed })
    }

    /// Whether the file, and the file of that name, are still what was read. Linear in the file; the last check is of
    /// its length, so that as little time as possible passes after it.
    fn is_same(&self, file: &mut File) -> io::Result<bool> {
        let named = identity(&File::open(&self.path)?)?;
        if identity(file)? != self.identity || named != self.identity || file.metadata()?.len() != self.length {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(0))?;
        let mut hasher = blake3::Hasher::new();
        io::copy(file, &mut hasher)?;
        Ok(hasher.finalize() == self.hash && file.metadata()?.len() == self.length)
    }
}

/// Whether content ends without a line feed, and within a JSON value.
fn ends_within_a_line(bytes: &[u8]) -> bool {
    let last = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_lines = last.len() < bytes.len() && last.trim_ascii_start().starts_with(b"{");
    is_lines && serde_json::from_slice::<&RawValue>(last).is_err()
}

/// Locks a file against others that ask for its lock, as long as it is open; `false` where another process has it.
fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        // There are file systems without locks: what follows is checked without them too.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Writes `addition` behind a file that is open for appending and has `length` bytes; returns where it ends. What an error
/// leaves half written is taken away again.
fn append_at_once(file: &mut File, length: u64, addition: &[u8]) -> io::Result<u64> {
    let mut rest = addition;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(0) => return Err(take_back(file, length, addition.len() - rest.len(), io::ErrorKind::WriteZero.into())),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(take_back(file, length, addition.len() - rest.len(), error)),
        }
    }
    file.stream_position()
}

/// Cuts off `written` bytes behind `length`, unless others wrote behind them. Returns `error`, or the one that came then.
fn take_back(file: &File, length: u64, written: usize, error: io::Error) -> io::Error {
    let taken_back = file.metadata().and_then(|metadata| {
        let is_last = metadata.len() == length + written as u64;
        if is_last && written > 0 { file.set_len(length) } else { Ok(()) }
    });
    taken_back.err().unwrap_or(error)
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
#[path = "in_place_tests.rs"]
mod tests;
