//! Decisions that outlive a process: a session that an agent takes up again begins as it was sent last, which the provider's
//! cache may still have.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use epitome_shelf::{PendingFile, Privacy, read_plain};

use crate::folders::{data, make_private};

/// Sessions that are kept; the one written to least recently is forgotten first.
const MOST: usize = 100;

/// A folder with the decisions of sessions, a file for each.
#[derive(Debug)]
pub(super) struct KeptDecisions {
    folder: PathBuf,
}

impl KeptDecisions {
    /// The person's own, in the folder of data; `None` where there is no such folder.
    pub(super) fn of_person() -> Option<Self> {
        Some(Self::in_folder(data()?.join("epitome/fit")))
    }

    fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What was kept of a session; `None` where nothing was.
    pub(super) fn read(&self, session: &str) -> io::Result<Option<Vec<u8>>> {
        match read_plain(self.file(session)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Keeps the state of a session's fitter. It holds words of the session: only its owner can read it.
    pub(super) fn write(&self, session: &str, state: &[u8]) -> io::Result<()> {
        make_private(&self.folder)?;
        let draft = PendingFile::new(&self.file(session), Privacy::Owner)?;
        draft.file().write_all(state)?;
        draft.replace()?;
        self.forget_oldest()
    }

    fn file(&self, session: &str) -> PathBuf {
        // A session's id comes from an agent: it is not taken for a path.
        let name = blake3::hash(session.as_bytes()).to_hex();
        self.folder.join(format!("{name}.fit"))
    }

    fn forget_oldest(&self) -> io::Result<()> {
        let entries = std::fs::read_dir(&self.folder)?.collect::<io::Result<Vec<_>>>()?;
        let files =
            entries.iter().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "fit"));
        let mut files: Vec<(SystemTime, PathBuf)> = files.map(|path| (written_at(&path), path)).collect();
        files.sort();
        let old = files.len().saturating_sub(MOST);
        files.drain(..old).try_for_each(|(_, path)| match std::fs::remove_file(path) {
            // Another process forgot it too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
    }
}

/// When a file was written; the beginning of time where that is not known, so that it goes first.
fn written_at(path: &Path) -> SystemTime {
    std::fs::metadata(path).and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptDecisions::in_folder(folder.path().join("fit"));
        assert_eq!(kept.read("one").unwrap(), None);
        for number in 0..=MOST {
            kept.write(&format!("../{number}"), number.to_string().as_bytes()).unwrap();
        }
        kept.write("../7", b"again").unwrap();
        assert_eq!(kept.read("../7").unwrap().unwrap(), b"again");
        std::fs::create_dir(kept.file("folder")).unwrap();
        kept.read("folder").unwrap_err();
        std::fs::remove_dir(kept.file("folder")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path().join("fit")).unwrap().count(), MOST);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a name is no path");
    }
}
