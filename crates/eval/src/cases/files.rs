//! The files of a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use epitome::formats::{LoadedFile, ReadOptions, read};

use crate::EvalError;
use crate::cases::left_out::{LeftOut, LeftOutReason};

/// A file and its name in reports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    /// Its name, relative to the folder that was named.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

impl File {
    /// Returns the bytes of the file.
    pub(crate) fn read(&self) -> Result<Vec<u8>, EvalError> {
        let file = || self.path.display().to_string();
        epitome_shelf::read_plain(&self.path).map_err(|error| EvalError::Read { file: file(), error })
    }

    /// Returns the sessions of the file, and a text that identifies its bytes; where there are none, what is left out under
    /// `name`.
    pub(crate) fn load(&self, name: &str) -> Result<(LoadedFile, String), LeftOut> {
        let unreadable = |problem: String| LeftOut::file(name, LeftOutReason::Unreadable, problem);
        let bytes = self.read().map_err(|error| unreadable(error.to_string()))?;
        // The first 64 bits of a content hash: enough to notice a change.
        let content = blake3::hash(&bytes).to_hex()[..16].to_owned();
        let loaded = read(bytes, ReadOptions::default()).map_err(|error| unreadable(error.to_string()))?;
        Ok((loaded, content))
    }
}

/// Returns every file that `paths` name, in order of their names; names are relative to the given folder. A file that
/// is named in several ways counts once, under the first of them.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<File>, EvalError> {
    let (mut files, mut seen) = (Vec::new(), HashSet::new());
    for path in paths {
        let mut found = Vec::new();
        if path.is_dir() {
            collect(path, path, &mut found)?;
        } else if path.is_file() {
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
            found.push(File { name, path: path.clone() });
        }
        // The order in which a folder lists two links to one file does not decide which one counts.
        found.sort();
        // A path that cannot be resolved fails where it is read.
        found.retain(|file| seen.insert(std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone())));
        files.extend(found);
    }
    files.sort();
    Ok(files)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<(), EvalError> {
    let unreadable = |error| EvalError::Read { file: folder.display().to_string(), error };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if path.is_file() {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push(File { name, path });
        }
    }
    Ok(())
}
