//! Files out: never a partial file over good data, and no write over the input by accident.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use epitome_shelf::identity;

use crate::failure::Failure;
use crate::paths::{display_name, is_standard};
use crate::render::style::STRONG;
use crate::replace::{cannot_write, check_writable, replace};
use crate::session::in_place::{InPlaceOutcome, Original};
use crate::terminal::{standard, tell};

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum Target {
    /// Standard output.
    Standard,
    /// A file.
    File {
        /// Which one.
        path: PathBuf,
        /// Whether the output is the input's own file.
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
                if folder.exists() { format!("{} is not a folder", folder.display()) } else { "no such folder".into() };
            let failure = Failure::usage_text(format!("cannot write {}: {what}", path.display()));
            return Err(failure.with_help("create the folder, or name another file"));
        }
        let is_input = input.is_some_and(|input| !is_standard(input) && are_one(input, path));
        Ok(Self::File { path: path.to_owned(), is_input })
    }

    /// Whether the output is the input's own file.
    pub(crate) fn is_input(&self) -> bool {
        matches!(self, Self::File { is_input: true, .. })
    }

    /// Fails where it can be known beforehand that the target takes no bytes. Not for the input.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Self::File { path, .. } = self else { return Ok(()) };
        check_writable(path).map_err(|error| cannot_write(path, error))
    }

    /// Writes all of `bytes`; a file appears whole or not at all, compressed when its name says so. Not for the input.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let Self::File { path, .. } = self else { return Ok(standard(bytes)?) };
        replace(path, bytes, || Ok(true)).map_err(|error| cannot_write(path, error))
    }

    /// The same, also where the output is the input's own file: output that begins with the content of `input` is
    /// appended to it, and other output replaces it with `force` only. Where other programs write to the input,
    /// `original` is that file as it was read.
    pub(crate) fn take(
        &self,
        bytes: &[u8],
        input: &[u8],
        original: Option<&Original>,
        force: bool,
    ) -> Result<InPlaceOutcome, Failure> {
        let Self::File { path, is_input: true } = self else {
            return self.write(bytes).map(|()| InPlaceOutcome::Whole);
        };
        match (bytes.strip_prefix(input), original) {
            (Some([]), _) => Ok(InPlaceOutcome::Whole),
            (Some(addition), Some(original)) => original.append(addition),
            (None, Some(original)) if force => original.replace(bytes),
            (addition, None) if force || addition.is_some() => self.write(bytes).map(|()| InPlaceOutcome::Whole),
            (_, _) => {
                let failure = Failure::usage_text(format!("{} is the input, and would lose what left", path.display()));
                Err(failure.with_help("name another file, or replace it with --force"))
            }
        }
    }
}

/// Whether two names belong to one file.
fn are_one(one: &Path, other: &Path) -> bool {
    let same_path = matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other);
    // Opening a path that is not a file can wait for ever.
    let of = |path: &Path| {
        let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        is_file.then(|| File::open(path).and_then(|file| identity(&file)).ok()).flatten().flatten()
    };
    same_path || of(one).is_some_and(|identity| of(other) == Some(identity))
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Reports a file that was written.
pub(crate) fn wrote(target: &Target, what: &str) {
    if let Target::File { path, .. } = target {
        tell(&format!("{what} written to {STRONG}{}{STRONG:#}\n", display_name(path)));
    }
}
