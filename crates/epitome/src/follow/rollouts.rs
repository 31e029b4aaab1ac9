//! The files that one continues: Codex's rollouts beside one, for forks, reverts and segments.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Error, ErrorKind};
use std::path::{Component, Path, PathBuf};

use epitome_formats::{FileName, LoadedFile, ReadError, ReadOptions, read_with_inherited};
use epitome_shelf::read_plain;

/// The folders of Codex's home that hold rollouts (0.171), by day or flat, and the older segments of one.
const FOLDERS: [&str; 3] = ["sessions", "archived_sessions", "rotated_rollout_segments"];

/// Reads the sessions of a file with this content, with what they go on from in other files: those of the agent's home where the
/// file is in it, else those beside the file. Linear in the files that are read, and in the names of those of the home.
///
/// # Errors
///
/// Those of [`read`](epitome_formats::read).
pub fn read_session_file(file: &Path, bytes: Vec<u8>, options: ReadOptions) -> Result<LoadedFile, ReadError> {
    read_with_inherited(bytes, options, Some(&|name: &FileName<'_>| find_rollout(file, name)))
}

/// The content of a rollout that the session in `file` continues. Nothing outside of Codex's home is read, or outside of the
/// file's folder where the file is not in a home, whatever path is named.
fn find_rollout(file: &Path, name: &FileName<'_>) -> io::Result<Vec<u8>> {
    let file = fs::canonicalize(file)?;
    let home = file.ancestors().find(|folder| is_rollout_folder(folder.file_name())).and_then(Path::parent);
    let folder = file.parent().unwrap_or(&file);
    if let Some(path) = name.path.and_then(|path| moved(Path::new(path), home, folder)) {
        // A segment has the name of the file that continues it.
        match read_plain(&path) {
            Ok(bytes) if path != file => return Ok(bytes),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    let mut folders: Vec<PathBuf> = match home {
        Some(home) => FOLDERS[..2].iter().map(|name| home.join(name)).collect(),
        None => vec![folder.to_owned()],
    };
    let ends = [format!("-{}.jsonl", name.id), format!("_{}.jsonl", name.id)];
    let mut is_compressed = false;
    while let Some(folder) = folders.pop().filter(|_| !name.id.is_empty()) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (file_name, path) = (entry.file_name(), entry.path());
            let file_name = file_name.to_str().unwrap_or_default();
            let is_it = |name: &str| ends.iter().any(|end| name.ends_with(end));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && home.is_some() => folders.push(path),
                Ok(kind) if kind.is_file() && is_it(file_name) && path != file => return read_plain(path),
                Ok(kind) => is_compressed |= kind.is_file() && file_name.strip_suffix(".zst").is_some_and(is_it),
                Err(_) => {}
            }
        }
    }
    match is_compressed {
        true => Err(Error::new(
            ErrorKind::Unsupported,
            "Codex has compressed it: `zstd -d --keep` gives the file beside it",
        )),
        false => Err(ErrorKind::NotFound.into()),
    }
}

fn is_rollout_folder(name: Option<&OsStr>) -> bool {
    FOLDERS.iter().any(|known| name == Some(OsStr::new(known)))
}

/// Where a file is by now that had a path in Codex's home: in the present home, else in a folder. `None` where the path leads out.
fn moved(path: &Path, home: Option<&Path>, folder: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(home) = home else { return Some(folder.join(path.file_name()?)) };
    let first = parts.iter().rposition(|part| is_rollout_folder(Some(part.as_os_str())))?;
    let below = &parts[first..];
    below.iter().all(|part| matches!(part, Component::Normal(_))).then(|| home.join(below.iter().collect::<PathBuf>()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn put(home: &Path, path: &str) -> PathBuf {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, path.strip_prefix(home).unwrap().to_str().unwrap()).unwrap();
        path
    }

    #[test]
    fn rollouts_are_found_by_the_ends_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str| put(folder.path(), path);
        let fork = put("sessions/2026/11/27/rollout-2026-11-27T01-00-00-0199-f.jsonl");
        put("sessions/2026/10/01/rollout-2026-10-01T01-00-00-0199-a.jsonl");
        put("sessions/2026/10/01/rollout-2026-10-01T02-00-00-0199-a_0199-b.jsonl");
        put("archived_sessions/rollout-2026-09-01T01-00-00-0199-c.jsonl");
        put("rollout-2026-09-01T01-00-00-0199-d.jsonl");
        put("archived_sessions/rollout-2026-09-01T01-00-00-0199-z.jsonl.zst");
        let check = |file: &Path, id: &str, expect: Result<&str, ErrorKind>| {
            let found = find_rollout(file, &FileName { id, path: None });
            let found = found.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.kind());
            assert_eq!(found.as_deref(), expect.as_ref().map(|path| *path), "{id}");
        };
        check(&fork, "0199-a", Ok("sessions/2026/10/01/rollout-2026-10-01T01-00-00-0199-a.jsonl"));
        check(&fork, "0199-b", Ok("sessions/2026/10/01/rollout-2026-10-01T02-00-00-0199-a_0199-b.jsonl"));
        check(&fork, "0199-c", Ok("archived_sessions/rollout-2026-09-01T01-00-00-0199-c.jsonl"));
        check(&fork, "0199-d", Err(ErrorKind::NotFound));
        check(&fork, "0199-f", Err(ErrorKind::NotFound));
        check(&fork, "0199-z", Err(ErrorKind::Unsupported));
        check(&fork, "", Err(ErrorKind::NotFound));
        check(&folder.path().join("none"), "0199-d", Err(ErrorKind::NotFound));
        // Outside of Codex's home only beside the file.
        let copy = put("copied/rollout-2026-11-27T01-00-00-0199-f.jsonl");
        put("copied/rollout-2026-09-01T01-00-00-0199-e.jsonl");
        put("copied/below/rollout-2026-09-01T01-00-00-0199-g.jsonl");
        check(&copy, "0199-e", Ok("copied/rollout-2026-09-01T01-00-00-0199-e.jsonl"));
        check(&copy, "0199-g", Err(ErrorKind::NotFound));
        check(&copy, "0199-a", Err(ErrorKind::NotFound));
    }

    #[test]
    fn rollouts_are_found_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str| put(folder.path(), path);
        let name = "rollout-2026-11-27T01-00-00-0199-f.jsonl";
        let live = put(&format!("home/sessions/2026/11/27/{name}"));
        let segment = format!("home/rotated_rollout_segments/0199-f/initial/{name}");
        put(&segment);
        put("secret.jsonl");
        let check = |file: &Path, path: &str, expect: Option<&str>| {
            let found = find_rollout(file, &FileName { id: "", path: Some(path) }).ok();
            assert_eq!(found.as_deref(), expect.map(str::as_bytes), "{path}");
        };
        let elsewhere = format!("/old/home/rotated_rollout_segments/0199-f/initial/{name}");
        check(&live, &elsewhere, Some(&segment));
        check(&live, folder.path().join(&segment).to_str().unwrap(), Some(&segment));
        check(&live, live.to_str().unwrap(), None);
        check(&live, folder.path().join("secret.jsonl").to_str().unwrap(), None);
        check(&live, "/x/sessions/../../secret.jsonl", None);
        // Outside of a home only beside the file.
        let copy = put("copied/other.jsonl");
        check(&copy, &elsewhere, None);
        put(&format!("copied/{name}"));
        check(&copy, &elsewhere, Some(&format!("copied/{name}")));
    }
}
