//! Files out: never a partial file over good data, and no write over the input by accident.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::Failure;
use crate::in_place::{Original, Taken, identity};
use crate::input::{is_standard, shown};
use crate::render::style::{STRONG, WARN};

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum Target {
    /// Standard output.
    Standard,
    /// A file.
    File {
        /// Which one.
        path: PathBuf,
        /// Whether it is the input.
        is_input: bool,
    },
}

impl Target {
    /// The target of `-o`, checked before any work is done: what it names must not be a folder, and its folder must be
    /// there.
    pub(crate) fn new(output: Option<&Path>, input: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = output.filter(|output| !is_standard(output)) else { return Ok(Self::Standard) };
        if path.is_dir() {
            let failure = Failure::usage_text(format!("cannot write {}: it is a folder", path.display()));
            return Err(failure.with_help("name a file in it"));
        }
        let folder = folder(path);
        if !folder.is_dir() {
            let what =
                if folder.exists() { format!("{} is no folder", folder.display()) } else { "no such folder".into() };
            let failure = Failure::usage_text(format!("cannot write {}: {what}", path.display()));
            return Err(failure.with_help("create the folder, or name another file"));
        }
        let is_input = input.is_some_and(|input| !is_standard(input) && are_one(input, path));
        Ok(Self::File { path: path.to_owned(), is_input })
    }

    /// Whether it is the input.
    pub(crate) fn is_input(&self) -> bool {
        matches!(self, Self::File { is_input: true, .. })
    }

    /// Writes all of `bytes`; a file appears whole or not at all, compressed when its name says so. Not for the input.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let Self::File { path, .. } = self else { return Ok(standard(bytes)?) };
        replace(path, bytes, || Ok(true)).map_err(|error| cannot_write(path, error))
    }

    /// The same, also where it is the input: what begins with that, `input`, is appended to it, and anything else takes its
    /// place with `force` only. Where the input is a file that others write to, `original` is that file as it was read.
    pub(crate) fn take(
        &self,
        bytes: &[u8],
        input: &[u8],
        original: Option<&Original>,
        force: bool,
    ) -> Result<Taken, Failure> {
        let Self::File { path, is_input: true } = self else { return self.write(bytes).map(|()| Taken::Whole) };
        match (bytes.strip_prefix(input), original) {
            (Some([]), _) => Ok(Taken::Whole),
            (Some(addition), Some(original)) => original.append(addition),
            (None, Some(original)) if force => original.replace(bytes),
            (addition, None) if force || addition.is_some() => self.write(bytes).map(|()| Taken::Whole),
            (_, _) => {
                let failure = Failure::usage_text(format!("{} is the input, and would lose what left", path.display()));
                Err(failure.with_help("name another file, or replace it with --force"))
            }
        }
    }
}

/// Whether two names are of one file.
fn are_one(one: &Path, other: &Path) -> bool {
    let same_path = matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other);
    // Opening what is no file can wait for ever.
    let of = |path: &Path| {
        let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        is_file.then(|| File::open(path).and_then(|file| identity(&file)).ok()).flatten().flatten()
    };
    same_path || of(one).is_some_and(|identity| of(other) == Some(identity))
}

/// The failure of a write to a file.
pub(crate) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    let help = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room, or name a file on another disk",
        io::ErrorKind::Unsupported => "name another file, and put it in place by hand",
        _ => "name a file in a folder that you may write to",
    };
    Failure::usage(anyhow::Error::new(error).context(format!("cannot write {}", path.display()))).with_help(help)
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes bytes to standard output.
pub(crate) fn standard(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes styled text to standard output, plain where it is no terminal.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes styled text to standard error, plain where it is no terminal. A closed standard error is no reason to stop.
pub(crate) fn tell(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Tells of something that did not stop the command.
pub(crate) fn note(message: &str) {
    tell(&format!("{WARN}warning{WARN:#}: {message}\n"));
}

/// Tells of a file that was written.
pub(crate) fn wrote(target: &Target, what: &str) {
    if let Target::File { path, .. } = target {
        tell(&format!("{what} written to {STRONG}{}{STRONG:#}\n", shown(path)));
    }
}

/// Shows how far long work is, on a terminal only.
pub(crate) fn progress(done: usize, of: usize) {
    if io::stderr().is_terminal() {
        let rest = if done == of { "\r\u{1b}[K".to_owned() } else { format!("\r{done} of {of}") };
        tell(&rest);
    }
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
