//! Files that are replaced: whole or not at all, with the owner and the mode that they had.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::Path;

use epitome_shelf::{PendingFile, Privacy, check_plain};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::Failure;

/// The failure of a write to a file.
pub(crate) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    let help = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room, or name a file on another disk",
        io::ErrorKind::Unsupported => "name another file, and put it in place by hand",
        _ => "name a file in a folder that you may write to",
    };
    Failure::usage(anyhow::Error::new(error).context(format!("cannot write {}", path.display()))).with_help(help)
}

/// Puts a file of these bytes at `path`, if `may` allows it when all is ready. Owner and mode of a file that is there stay.
pub(crate) fn replace(path: &Path, bytes: &[u8], may: impl FnOnce() -> io::Result<bool>) -> io::Result<()> {
    let there = fs::metadata(path).ok();
    // What a shell hands over takes bytes and is not replaced; a pipe that is found could be waited for without an end.
    if there.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        check_plain(path)?;
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    if there.as_ref().is_some_and(has_other_names) {
        return Err(hard_links());
    }
    // A link stays a link: what it points to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let pending = PendingFile::new(path, Privacy::Shared)?;
    if let Some(there) = &there {
        pending.copy_metadata(there)?;
    }
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut encoder = GzEncoder::new(pending.file(), Compression::default());
        encoder.write_all(bytes)?;
        encoder.finish()?;
    } else {
        pending.file().write_all(bytes)?;
    }
    pending.file().sync_all()?;
    if may()? { pending.replace().map(drop) } else { Ok(()) }
}

/// Fails where [`replace`] would before a byte is there: the file may not be written, or nothing beside it. What takes
/// bytes and is no file is not asked, because to open a pipe is to wait for its reader.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => check_plain(path),
        Ok(there) if has_other_names(&there) => Err(hard_links()),
        _ => PendingFile::new(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), Privacy::Shared).map(drop),
    }
}

fn hard_links() -> io::Error {
    unsupported("it has other names (hard links), which would keep what is in it now")
}

fn unsupported(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, problem)
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_metadata: &Metadata) -> bool {
    false
}
