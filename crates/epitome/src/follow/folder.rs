//! The session files of a folder, the newest first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::problem::{ReadProblem, io_problem};

/// How deep a folder is searched for the newest file: agents sort theirs by year, month and day.
const DEPTH: usize = 6;

/// The most files of a folder that are listed.
const MOST_FILES: usize = 100_000;

/// Folders beside sessions that have the logs of an agent's helpers: not sessions of their own, and often the newest
/// files.
const PASSED_OVER: &str = "subagents";

/// Returns the `.jsonl` and `.json` files in a folder at any depth, the latest change first, without the logs of an
/// agent's helpers.
///
/// # Errors
///
/// The folder is not there, cannot be read, or holds no such file, or too many.
pub fn newest_files(path: &Path) -> Result<Vec<PathBuf>, ReadProblem> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    let (mut folders, mut seen) = (vec![(path.to_owned(), 0)], 0);
    while let Some((folder, depth)) = folders.pop() {
        // Files and folders come and go while they are listed.
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(io_problem(&folder, &error)),
            Err(_) => continue,
        };
        for entry in entries.filter_map(Result::ok) {
            seen += 1;
            if seen > MOST_FILES {
                let problem = format!("{} holds more than {MOST_FILES} files: name one", path.display());
                return Err(ReadProblem::Unreadable(problem));
            }
            let (Ok(kind), file) = (entry.file_type(), entry.path()) else { continue };
            if kind.is_dir() {
                let is_searched = depth < DEPTH && entry.file_name() != PASSED_OVER;
                folders.extend(is_searched.then(|| (file, depth + 1)));
                continue;
            }
            let is_session = file.extension().is_some_and(|end| end == "jsonl" || end == "json");
            // A pipe would be waited for when it is read. A link counts as what it points to.
            let about = if is_session { fs::metadata(&file).ok().filter(fs::Metadata::is_file) } else { None };
            if let Some(changed) = about.and_then(|about| about.modified().ok()) {
                files.push((changed, file));
            }
        }
    }
    if files.is_empty() {
        return Err(ReadProblem::Missing(format!("a .jsonl or .json file in {}", path.display())));
    }
    files.sort_unstable_by(|one, other| other.cmp(one));
    Ok(files.into_iter().map(|(_, file)| file).collect())
}
