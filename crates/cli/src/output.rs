//! Files out: never a partial file over good data, and no write over the input by accident.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::Failure;
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
        let is_input = input.is_some_and(
            |input| matches!((fs::canonicalize(input), fs::canonicalize(path)), (Ok(input), Ok(path)) if input == path),
        );
        Ok(Self::File { path: path.to_owned(), is_input })
    }

    /// Writes all of `bytes`; a file appears whole or not at all, compressed when its name says so.
    ///
    /// The input is replaced only by what begins with it: formats that append a compaction to the session's own records
    /// lose nothing. `input` is its content; `None` allows any replacement.
    pub(crate) fn write(&self, bytes: &[u8], input: Option<&[u8]>) -> Result<(), Failure> {
        let Self::File { path, is_input } = self else { return Ok(standard(bytes)?) };
        if *is_input && input.is_some_and(|input| !bytes.starts_with(input)) {
            let failure = Failure::usage_text(format!("{} is the input, and would lose what left", path.display()));
            return Err(failure.with_help("name another file, or replace it with --force"));
        }
        let help = |error: &io::Error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room, or name a file on another disk",
            _ => "name a file in a folder that you may write to",
        };
        replace(path, bytes).map_err(|error| {
            let help = help(&error);
            let error = anyhow::Error::new(error).context(format!("cannot write {}", path.display()));
            Failure::usage(error).with_help(help)
        })
    }
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

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Devices and pipes take bytes, they are not replaced.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    // A link stays a link: what it points to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = temporary(path);
    let written = write_new(&temporary, path, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The error that matters is the one above.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_new(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(temporary)?;
    if let Ok(metadata) = fs::metadata(path) {
        fs::set_permissions(temporary, metadata.permissions())?;
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
