//! Files that are whole or not there.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The readers of a new file, on systems where files have modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Whom the process lets read its new files: mode 666 without the bits of its mask.
    Shared,
    /// The owner alone: mode 600.
    Owner,
}

/// A file that is being written beside its place, in the same folder, and gets its name when it is finished: no reader
/// sees half of it, and a full disk, an error or the end of the process leaves the earlier file. A pending file that is
/// dropped before it has its name is removed; only the end of the process leaves it behind.
///
/// ```
/// use std::io::Write;
///
/// use epitome_shelf::{PendingFile, Privacy};
///
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("notes.txt");
/// let pending = PendingFile::new(&path, Privacy::Owner)?;
/// pending.file().write_all(b"all of it")?;
/// pending.file().sync_all()?; // where it is to survive a loss of power
/// pending.replace()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PendingFile {
    // In front of what removes it: there are systems that remove no open file.
    file: File,
    path: TemporaryPath,
    target: PathBuf,
}

impl PendingFile {
    /// Makes an empty file in the folder of `target`, open for reading and writing. Its own name is hidden, and taken by no
    /// other pending file.
    ///
    /// Errors where `target` has no file name, or the folder takes no file.
    pub fn new(target: &Path, privacy: Privacy) -> io::Result<Self> {
        let path = sibling_path(target)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if privacy == Privacy::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = privacy; // whose a new file is, the folder decides there
        let file = options.open(&path)?;
        Ok(Self { file, path: TemporaryPath(path), target: target.to_owned() })
    }

    /// The file, to write to, to sync and to lock.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it is until it gets its name.
    pub fn path(&self) -> &Path {
        &self.path.0
    }

    /// Gives it the owner and the mode of a file that it is going to replace.
    ///
    /// Errors with [`io::ErrorKind::Unsupported`] where this process may not give files to that owner.
    pub fn copy_metadata(&self, there: &Metadata) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let own = self.file.metadata()?;
            if (own.uid(), own.gid()) != (there.uid(), there.gid()) {
                fchown(&self.file, Some(there.uid()), Some(there.gid())).map_err(|error| {
                    io::Error::new(io::ErrorKind::Unsupported, format!("its owner would change ({error})"))
                })?;
            }
        }
        // Behind the owner: to change that takes marks of the mode away.
        self.file.set_permissions(there.permissions())
    }

    /// Gives it its name, in place of whatever has it. Returns the file, still open.
    pub fn replace(self) -> io::Result<File> {
        fs::rename(&self.path.0, &self.target)?;
        Ok(self.file)
    }

    /// Gives it its name. Returns the file, still open.
    ///
    /// Errors with [`io::ErrorKind::AlreadyExists`] where something has that name; that stays.
    pub fn name(self) -> io::Result<File> {
        match fs::hard_link(&self.path.0, &self.target) {
            Ok(()) => Ok(self.file), // the other name goes with the pending file
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // No links on this file system: an empty file holds the name until the finished one takes its place.
            Err(_) => {
                File::create_new(&self.target)?;
                self.replace()
            }
        }
    }
}

/// A name that nothing has any more when this is dropped.
#[derive(Debug)]
struct TemporaryPath(PathBuf);

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok(); // it is gone already where it was renamed
    }
}

/// A name in the folder of `path` that no other pending file has.
fn sibling_path(path: &Path) -> io::Result<PathBuf> {
    // Not the number of the process: in a container each has the same, and finds what a killed one left behind.
    static PROCESS: LazyLock<u32> = LazyLock::new(|| RandomState::new().hash_one(()) as u32);
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name =
        path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no file name in it"))?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut sibling = OsString::from(".");
    sibling.push(name);
    sibling.push(format!(".{:08x}-{number}.tmp", *PROCESS));
    Ok(path.with_file_name(sibling))
}

/// The system's identity of a file, whatever its name: its device and number; `None` where the system has no such
/// identity.
pub fn identity(file: &File) -> io::Result<Option<(u64, u64)>> {
    file.metadata().map(|metadata| identity_of(&metadata))
}

/// The same of what has this name, which is not opened: it may be what nobody may read, or a pipe.
pub fn identity_at(path: &Path) -> io::Result<Option<(u64, u64)>> {
    fs::metadata(path).map(|metadata| identity_of(&metadata))
}

#[cfg(unix)]
fn identity_of(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity_of(_metadata: &Metadata) -> Option<(u64, u64)> {
    None // an open file cannot be replaced there
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_has_its_name_when_it_is_finished() {
        type Finish = fn(PendingFile) -> io::Result<()>;
        let check = |old: Option<&str>, finish: Finish, expect: (bool, Option<&str>)| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            old.into_iter().for_each(|old| fs::write(&path, old).unwrap());
            let pending = PendingFile::new(&path, Privacy::Shared).unwrap();
            pending.file().write_all(b"new").unwrap();
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), old, "nothing has changed yet");
            let is_done = finish(pending).is_ok();
            assert_eq!((is_done, fs::read_to_string(&path).ok().as_deref()), expect);
            assert_eq!(names(folder.path()).len(), usize::from(expect.1.is_some()), "no pending file is left");
        };
        check(None, |pending| pending.replace().map(drop), (true, Some("new")));
        check(Some("old"), |pending| pending.replace().map(drop), (true, Some("new")));
        check(None, |pending| pending.name().map(drop), (true, Some("new")));
        check(Some("old"), |pending| pending.name().map(drop), (false, Some("old")));
        check(Some("old"), |_| Ok(()), (true, Some("old")));
        check(None, |_| Ok(()), (true, None));
    }

    #[test]
    fn drafts_of_one_name_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let pending_files = [(), ()].map(|()| PendingFile::new(&path, Privacy::Shared).unwrap());
        assert_eq!(names(folder.path()).len(), 2);
        drop(pending_files);
        assert_eq!(PendingFile::new(Path::new("/"), Privacy::Shared).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(PendingFile::new(&path.join("below"), Privacy::Shared).is_err());
    }

    #[test]
    fn what_a_killed_process_of_the_same_number_left_is_not_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let left = |number| folder.path().join(format!(".file.{}-{number}.tmp", std::process::id()));
        (0..100).for_each(|number| fs::write(left(number), "").unwrap());
        PendingFile::new(&folder.path().join("file"), Privacy::Shared).unwrap().replace().unwrap();
        assert_eq!(names(folder.path()).len(), 101);
    }

    #[cfg(unix)]
    #[test]
    fn modes_are_as_asked_for_or_as_they_were() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        PendingFile::new(&path, Privacy::Owner).unwrap().replace().unwrap();
        assert_eq!(mode(), 0o600);
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        PendingFile::new(&path, Privacy::Shared).unwrap().replace().unwrap();
        assert_eq!(mode(), fs::metadata(&plain).unwrap().permissions().mode() & 0o777);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o741)).unwrap();
        let pending = PendingFile::new(&path, Privacy::Owner).unwrap();
        pending.copy_metadata(&fs::metadata(&path).unwrap()).unwrap();
        pending.replace().unwrap();
        assert_eq!(mode(), 0o741);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_itself_under_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::write(&one, "").unwrap();
        fs::hard_link(&one, &two).unwrap();
        let of = |path: &Path| {
            let there = identity_at(path).unwrap();
            assert_eq!(identity(&File::open(path).unwrap()).unwrap(), there);
            there
        };
        assert_eq!(of(&one), of(&two));
        fs::remove_file(&two).unwrap();
        fs::write(&two, "").unwrap();
        assert_ne!(of(&one), of(&two));
    }
}
