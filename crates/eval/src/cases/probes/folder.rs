//! Finds probes: folders with a session, its probes and perhaps a hand-off summary.

use std::path::{Path, PathBuf};

use super::probe::ProbeSet;
use crate::EvalError;
use crate::cases::files::File;

/// The file that marks a folder of probes.
const PROBES: &str = "probes.json";
/// The possible names of the session up to the cut; the first that exists is read.
const PREFIXES: [&str; 2] = ["prefix.json.gz", "prefix.json"];
/// The name of the hand-off summary.
const HANDOFF: &str = "handoff.md";

/// The files beside a probed session.
#[derive(Debug)]
pub struct ProbeFolder {
    /// The folder's name.
    pub name: String,
    /// The probes.
    pub set: ProbeSet,
    /// A summary to compare with, where there is one.
    pub handoff: Option<String>,
}

impl ProbeFolder {
    /// Reads the files beside `prefix`. Linear.
    pub(crate) fn beside(prefix: &Path) -> Result<Self, EvalError> {
        let folder = prefix.parent().unwrap_or(Path::new(""));
        let read = |path: &Path| match epitome_shelf::read_plain(path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(unreadable(path, error)),
        };
        let path = folder.join(PROBES);
        let set = ProbeSet::parse(&read(&path)?, &path.display().to_string())?;
        let path = folder.join(HANDOFF);
        let handoff = path.is_file().then(|| read(&path)).transpose()?;
        Ok(Self { name: name_of(folder), set, handoff })
    }
}

/// Returns the probed sessions in `paths`: each is a folder with `probes.json`, or one that contains such folders, at
/// any depth. The files are those of the sessions, named `FOLDER/prefix.json`.
pub fn folders(paths: &[PathBuf]) -> Result<Vec<File>, EvalError> {
    let mut found: Vec<File> = Vec::new();
    for path in paths {
        let before = found.len();
        collect(path, &mut found)?;
        if found.len() == before {
            let problem = format!("holds no folder with a {PROBES}: name a folder of probes");
            return Err(EvalError::Probes { file: path.display().to_string(), problem });
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<File>) -> Result<(), EvalError> {
    if !folder.is_dir() {
        return Ok(());
    }
    if folder.join(PROBES).is_file() {
        let Some(file) = PREFIXES.into_iter().find(|name| folder.join(name).is_file()) else {
            let problem =
                format!("there is no {} beside it: put the session up to the cut there", PREFIXES.join(" or "));
            return Err(EvalError::Probes { file: folder.join(PROBES).display().to_string(), problem });
        };
        found.push(File { name: format!("{}/{file}", name_of(folder)), path: folder.join(file) });
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        collect(&entry.map_err(|error| unreadable(folder, error))?.path(), found)?;
    }
    Ok(())
}

/// Returns the folder's own name, also where it was given as `.`.
fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| whole.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, error: std::io::Error) -> EvalError {
    EvalError::Read { file: path.display().to_string(), error }
}
