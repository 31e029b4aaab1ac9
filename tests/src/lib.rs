//! Where the recorded sessions are.

use std::path::{Path, PathBuf};

/// The folder of recorded sessions: `EPITOME_SESSIONS`, else `../shared/data/dev` beside the workspace; `None` where it
/// does not exist.
pub fn recorded_sessions() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/dev");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// Every file below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
