//! Which files are read.

use std::path::{Path, PathBuf};

use crate::EvalError;

/// A file and what it is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Every file that `paths` name, in order of their names; names are relative to the folder that was named.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<File>, EvalError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, path, &mut files)?;
        } else {
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
            files.push(File { name, path: path.clone() });
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<(), EvalError> {
    let unreadable = |error| EvalError::Read { file: folder.display().to_string(), error };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push(File { name, path });
        }
    }
    Ok(())
}
