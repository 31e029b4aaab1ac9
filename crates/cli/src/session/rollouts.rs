//! Codex's rollouts beside one, for forks and reverts that name the file of what was said before.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use epitome_shelf::read_plain;

/// The folders of Codex's home that hold rollouts, by day or flat (0.171).
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// The content of the rollout with an id, for the session in `file`: of Codex's home where the file is in it, else of the file's
/// folder. Its name ends with the id: of the thread, or of the rollout where the thread was reverted to it.
pub(crate) fn find_rollout(file: &Path, id: &str) -> Option<Vec<u8>> {
    let file = fs::canonicalize(file).ok()?;
    let is_folder = |folder: &&Path| FOLDERS.iter().any(|name| folder.file_name() == Some(OsStr::new(name)));
    let home = file.ancestors().find(is_folder).and_then(Path::parent);
    let mut folders: Vec<PathBuf> = match home {
        Some(home) => FOLDERS.map(|name| home.join(name)).into(),
        None => vec![file.parent()?.to_owned()],
    };
    let ends = [format!("-{id}.jsonl"), format!("_{id}.jsonl")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_it = name.to_str().is_some_and(|name| ends.iter().any(|end| name.ends_with(end)));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && home.is_some() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() && is_it => return read_plain(entry.path()).ok(),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rollouts_are_found_by_the_ends_of_their_names() {
        let home = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, path.file_name().unwrap().to_str().unwrap()).unwrap();
            path
        };
        let fork = put("sessions/2026/11/27/rollout-2026-11-27T01-00-00-0199-f.jsonl");
        put("sessions/2026/10/01/rollout-2026-10-01T01-00-00-0199-a.jsonl");
        put("sessions/2026/10/01/rollout-2026-10-01T02-00-00-0199-a_0199-b.jsonl");
        put("archived_sessions/rollout-2026-09-01T01-00-00-0199-c.jsonl");
        put("rollout-2026-09-01T01-00-00-0199-d.jsonl");
        let check = |file: &Path, id: &str, expect: Option<&str>| {
            let found = find_rollout(file, id).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(found.as_deref(), expect, "{id}");
        };
        check(&fork, "0199-a", Some("rollout-2026-10-01T01-00-00-0199-a.jsonl"));
        check(&fork, "0199-b", Some("rollout-2026-10-01T02-00-00-0199-a_0199-b.jsonl"));
        check(&fork, "0199-c", Some("rollout-2026-09-01T01-00-00-0199-c.jsonl"));
        check(&fork, "0199-d", None);
        check(&fork, "", None);
        check(&home.path().join("none"), "0199-d", None);
        // Outside of Codex's home only beside the file.
        let copy = put("copied/rollout-2026-11-27T01-00-00-0199-f.jsonl");
        put("copied/rollout-2026-09-01T01-00-00-0199-e.jsonl");
        put("copied/below/rollout-2026-09-01T01-00-00-0199-g.jsonl");
        check(&copy, "0199-e", Some("rollout-2026-09-01T01-00-00-0199-e.jsonl"));
        check(&copy, "0199-g", None);
        check(&copy, "0199-a", None);
    }
}
