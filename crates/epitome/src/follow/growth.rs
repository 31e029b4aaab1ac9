//! A file that grows at its end: how far it was read, and whether it is still the same one.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use epitome_formats::{Follower, Format, LoadedFile, RecordedModel, recorded_model};
use epitome_session::Session;

/// Bytes in front of the read position that have to be unchanged. Source: a line or two of an agent's file: a program
/// that rewrites the file moves them.
const TAIL: usize = 4_096;

/// The read part of a file, and the reader of the rest.
#[derive(Debug)]
pub(super) struct Growth {
    follower: Follower,
    format: Format,
    /// The last bytes that were read.
    tail: Vec<u8>,
    /// The identity of the file, whatever its name.
    inode: Option<u64>,
}

impl Growth {
    /// Returns the reader of later records in a file that was read. `None` where files of its format are not appended to, or the
    /// file is gone. Linear in the file.
    pub(super) fn new(path: &Path, loaded: &LoadedFile) -> Option<Self> {
        let follower = Follower::behind(loaded)?;
        let end = follower.position();
        let tail = loaded.bytes.get(end.saturating_sub(TAIL)..end)?.to_vec();
        Some(Self { follower, format: loaded.format, tail, inode: inode_of(&File::open(path).ok()?) })
    }

    /// Reads the appended part and returns the session as it is now, with the model that the appended part names. `None`
    /// where the file is another one, was cut or rewritten, or has to be read as a whole: this reader is useless then.
    /// Linear in the appended part, and in the number of messages.
    pub(super) fn read_on(mut self, path: &Path) -> Option<(Self, Session, RecordedModel)> {
        let mut file = File::open(path).ok()?;
        if inode_of(&file) != self.inode {
            return None;
        }
        file.seek(SeekFrom::Start((self.follower.position() - self.tail.len()) as u64)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let appended = bytes.strip_prefix(&*self.tail)?;
        let before = self.follower.position();
        self.follower.read_on(appended);
        // What a rollout continues may have been named just now, or be there by now.
        if self.follower.misses_history() {
            return None;
        }
        let read = self.tail.len() + self.follower.position() - before;
        self.tail = bytes.get(read.saturating_sub(TAIL)..read)?.to_vec();
        let session = self.follower.session();
        let model = recorded_model(self.format, appended);
        Some((self, session, model))
    }
}

#[cfg(unix)]
fn inode_of(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().ok().map(|about| about.ino())
}

#[cfg(not(unix))]
fn inode_of(_: &File) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;
    use std::io::Write as _;

    use epitome_formats::{ReadOptions, read};

    use super::*;

    fn line(number: u32, text: &str) -> String {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    }

    fn texts(session: &Session) -> Vec<String> {
        session.log().iter().map(|message| message.plain_text().to_string()).collect()
    }

    fn follow(path: &Path) -> Growth {
        Growth::new(path, &read(fs::read(path).unwrap(), ReadOptions::default()).unwrap()).unwrap()
    }

    fn append(path: &Path, text: &str) {
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn only_what_was_appended_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let filler = "x".repeat(TAIL);
        fs::write(&path, line(0, "first") + &line(1, &filler)).unwrap();
        let growth = follow(&path);
        // The earlier part is not read again; this change would show there.
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        let at = line(0, "first").find("first").unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"FIRST", at as u64).unwrap();
        let half = line(2, "second");
        append(&path, &half[..20]);
        let (growth, session, _) = growth.read_on(&path).unwrap();
        assert_eq!(texts(&session), ["first", &filler], "half a line is none");
        append(&path, &half[20..]);
        let (growth, session, _) = growth.read_on(&path).unwrap();
        assert_eq!(texts(&session), ["first", &filler, "second"]);
        append(&path, &line(3, "third"));
        let (_, session, _) = growth.read_on(&path).unwrap();
        assert_eq!(texts(&session), ["first", &filler, "second", "third"]);
    }

    #[test]
    fn another_file_is_not_read_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let begin = || {
            fs::remove_file(&path).ok();
            fs::write(&path, line(0, "first") + &line(1, "second")).unwrap();
            follow(&path)
        };
        let check = |growth: Growth, why: &str| assert!(growth.read_on(&path).is_none(), "{why}");
        let growth = begin();
        fs::write(&path, line(0, "first")).unwrap();
        check(growth, "it was cut");
        let growth = begin();
        fs::write(&path, line(0, "other") + &line(1, "second") + &line(2, "third")).unwrap();
        check(growth, "it was written anew");
        let growth = begin();
        fs::remove_file(&path).unwrap();
        check(growth, "it is gone");
        let growth = begin();
        let other = folder.path().join("other.jsonl");
        fs::write(&other, line(0, "first") + &line(1, "second") + &line(2, "third")).unwrap();
        fs::rename(&other, &path).unwrap();
        check(growth, "another took its name");
    }
}
