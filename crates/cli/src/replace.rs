//! Files that are replaced: whole or not at all, with the owner and the mode that they had.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    // Devices and pipes take bytes, they are not replaced.
    if there.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    if there.as_ref().is_some_and(has_other_names) {
        return Err(unsupported("it has other names (hard links), which would keep what is in it now"));
    }
    // A link stays a link: what it points to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = temporary(path);
    let written = write_new(&temporary, path, there.as_ref(), bytes)
        .and_then(|()| if may()? { fs::rename(&temporary, path) } else { fs::remove_file(&temporary) });
    if written.is_err() {
        // The error that matters is the one above.
        let _ = fs::remove_file(&temporary);
    }
    written
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

/// Gives a new file the owner and the mode of the one that it will replace.
#[cfg(unix)]
fn be_like(file: &File, there: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (there.uid(), there.gid()) {
        fchown(file, Some(there.uid()), Some(there.gid()))
            .map_err(|error| unsupported(&format!("its owner would change ({error})")))?;
    }
    // Behind the owner: to change that takes marks of the mode away.
    file.set_permissions(there.permissions())
}

#[cfg(not(unix))]
fn be_like(file: &File, there: &Metadata) -> io::Result<()> {
    file.set_permissions(there.permissions())
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_new(temporary: &Path, path: &Path, there: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(temporary)?;
    if let Some(there) = there {
        be_like(&file, there)?;
    }
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut encoder = GzEncoder::new(&file, Compression::default());
        encoder.write_all(bytes)?;
        encoder.finish()?;
    } else {
        file.write_all(bytes)?;
    }
    file.sync_all()
}

/// What the system calls a file, whatever its name: its device and number; `None` where it has no such.
#[cfg(unix)]
pub(crate) fn identity(file: &File) -> io::Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(Some((metadata.dev(), metadata.ino())))
}

#[cfg(not(unix))]
pub(crate) fn identity(_file: &File) -> io::Result<Option<(u64, u64)>> {
    Ok(None) // an open file cannot be replaced there
}
