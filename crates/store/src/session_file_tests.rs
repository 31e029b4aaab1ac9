#![allow(clippy::unwrap_used)]
use std::fs;
use std::io;
use std::path::PathBuf;

use epitome_session::{EntryKey, Origin, Position, Role, SyntheticMessage, Trigger};
use epitome_strategy::Archive;
use tempfile::TempDir;

use super::*;
use crate::disk::{Disk, LockedFile};

/// A disk that has room for some more bytes.
#[derive(Debug)]
struct SmallDisk {
    file: LockedFile,
    room: usize,
    /// Whether the disk ever reports a completed sync.
    syncs: bool,
    /// Whether truncating works: on a failed disk no operation does.
    cuts: bool,
}

impl Disk for SmallDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = bytes.len().min(self.room);
        self.file.append(&bytes[..fits])?;
        self.room -= fits;
        if fits < bytes.len() { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.syncs { self.file.sync() } else { Err(io::Error::other("no answer")) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.cuts { self.file.cut(length) } else { Err(io::Error::other("the disk is gone")) }
    }
}

fn typed(text: &str) -> Message {
    Message::text("", Role::User, Origin::Typed, text)
}

/// A session of four messages in a new file.
fn stored(folder: &TempDir) -> (PathBuf, Session, SessionArchive) {
    let path = folder.path().join("session.jsonl");
    let mut session = Session::new();
    for text in ["a", "b", "c", "d"] {
        session.push(typed(text));
    }
    let mut archive = SessionArchive::new();
    drop(SessionFile::create(&path, &session, &mut archive).unwrap());
    (path, session, archive)
}

/// Archives the first two messages of a session and replaces them by a summary.
fn compact(session: &mut Session, archive: &mut SessionArchive) {
    let gone: Vec<Arc<Message>> = session.log()[..2].to_vec();
    archive.put(ArchivedContent::Messages(gone)).unwrap();
    archive.put(ArchivedContent::Text("a text that the log does not hold".into())).unwrap();
    let position = Position::before(session.view()[0].position, session.next_epoch(), 0);
    let message = Arc::new(Message::text("s", Role::User, Origin::Summary, "a summary"));
    let left = [EntryKey::Log(0), EntryKey::Log(1)];
    session.commit(Epoch::recorded(Trigger::Manual, left, vec![SyntheticMessage { position, message }]));
}

/// Opens the file on a disk with `room` for more, or on one that takes everything and never syncs.
fn on_small_disk(path: &Path, room: Option<usize>, cuts: bool) -> SessionFile {
    let (file, opened) = SessionFile::open(path).unwrap();
    let (length, lines) = (fs::metadata(path).unwrap().len(), fs::read_to_string(path).unwrap().lines().count());
    drop(file);
    let mut disk = open_locked(path).unwrap();
    disk.cut(length).unwrap();
    let disk = SmallDisk { file: disk, room: room.unwrap_or(usize::MAX), syncs: room.is_some(), cuts };
    let log = LogFile::new(path.to_owned(), Box::new(disk), length, lines as u64);
    SessionFile::over(log, &opened.session)
}

#[test]
fn a_full_disk_takes_all_or_nothing() {
    for cuts in [true, false] {
        for room in (0..2_000).step_by(13) {
            let folder = tempfile::tempdir().unwrap();
            let (path, mut session, mut archive) = stored(&folder);
            let before = session.clone();
            let mut file = on_small_disk(&path, Some(room), cuts);
            compact(&mut session, &mut archive);
            let result = file.commit(&session, &mut archive);
            let Err(error) = result else {
                assert!(room > 300, "{room} bytes cannot hold it");
                assert_eq!(archive.pending(), 0);
                break;
            };
            assert!(matches!(&error, StoreError::Write { lines: 5, .. }), "{error}");
            assert!(error.to_string().contains("after line 5"), "{error}");
            assert_eq!(archive.pending(), 2, "what is not stored is pending");
            let again = file.append(&typed("e"));
            assert!(matches!(again, Err(StoreError::Failed { .. })), "it refuses further writes: {again:?}");
            drop(file);
            let (mut file, opened) = SessionFile::open(&path).unwrap();
            assert_eq!(opened.session.state_hash(), before.state_hash(), "{room} bytes");
            assert!(opened.archive.is_empty());
            file.commit(&session, &mut archive).unwrap();
            assert_eq!(SessionFile::read(&path).unwrap().session.state_hash(), session.state_hash());
            assert!(room < 1_900, "it never fits");
        }
    }
}

/// All was written, but the disk does not say that it has it, and takes no cut: not stored as far as the host knows, but
/// never half.
#[test]
fn a_disk_that_does_not_sync_leaves_no_half() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut session, mut archive) = stored(&folder);
    let start = fs::metadata(&path).unwrap().len();
    compact(&mut session, &mut archive);
    for cuts in [true, false] {
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(start).unwrap();
        let mut file = on_small_disk(&path, None, cuts);
        assert!(matches!(file.commit(&session, &mut archive), Err(StoreError::Write { .. })));
        drop(file);
        let opened = SessionFile::open(&path).unwrap().1;
        let expected = usize::from(!cuts);
        assert_eq!((opened.session.journal().len(), opened.repaired), (expected, None));
    }
}

#[test]
fn a_failed_file_is_healed_by_writing_it_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut session, mut archive) = stored(&folder);
    let mut file = on_small_disk(&path, Some(9), false);
    compact(&mut session, &mut archive);
    assert!(file.commit(&session, &mut archive).is_err());
    file.rewrite(&session, &mut archive).unwrap();
    session.push(typed("e"));
    file.append(session.log().last().unwrap()).unwrap();
    drop(file);
    let opened = SessionFile::open(&path).unwrap().1;
    assert_eq!((opened.session.state_hash(), opened.archive.len()), (session.state_hash(), 2));
}

#[cfg(unix)] // elsewhere the folder of an open file cannot be removed
#[test]
fn a_file_that_could_not_be_replaced_takes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session, mut archive) = stored(&folder);
    let mut file = SessionFile::open(&path).unwrap().0;
    drop(folder);
    assert!(matches!(file.rewrite(&session, &mut archive), Err(StoreError::Io { .. })));
    assert!(matches!(file.append(&typed("e")), Err(StoreError::Failed { .. })));
}

#[cfg(unix)]
#[test]
fn a_rewrite_keeps_the_mode_and_what_links_to_the_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, mut session, mut archive) = stored(&folder);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.jsonl");
    symlink("session.jsonl", &link).unwrap();
    let mut file = SessionFile::open(&link).unwrap().0;
    session.push(typed("e"));
    file.rewrite(&session, &mut archive).unwrap();
    session.push(typed("f"));
    file.append(session.log().last().unwrap()).unwrap();
    drop(file);
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(SessionFile::read(&path).unwrap().session.state_hash(), session.state_hash());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left behind");
}

/// The result of opening a file after a change to its lines: the error; or `ok` and the number of messages.
fn told(change: impl FnOnce(&mut Vec<String>)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut session, mut archive) = stored(&folder);
    let mut file = SessionFile::open(&path).unwrap().0;
    compact(&mut session, &mut archive);
    file.commit(&session, &mut archive).unwrap();
    session.push(typed("e"));
    file.append(session.log().last().unwrap()).unwrap();
    drop(file);
    // Header, four messages, two items, the compaction, a message.
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(|line| format!("{line}\n")).collect();
    assert_eq!(lines.len(), 9);
    change(&mut lines);
    fs::write(&path, lines.concat()).unwrap();
    let before = fs::read(&path).unwrap();
    match SessionFile::open(&path) {
        Ok((_, opened)) => {
            let said = opened.repaired.map_or(String::new(), |said| format!(": {said}"));
            format!("{} messages, {} items{said}", opened.session.log().len(), opened.archive.len())
        }
        Err(error) => {
            assert_eq!(fs::read(&path).unwrap(), before, "what cannot be read is not changed");
            error.to_string().replace(&path.display().to_string(), "FILE")
        }
    }
}

#[test]
fn damage_is_told() {
    let check = |change: &dyn Fn(&mut Vec<String>), expect: &str| {
        let told = told(change);
        assert!(told.contains(expect), "{told}\nis not\n{expect}");
    };
    let zeros = |line: &mut String| *line = format!("{}\n", "\0".repeat(line.len() - 1));
    check(&|_| {}, "5 messages, 2 items");
    // At the end: cut off.
    check(&|lines| lines[8].truncate(30), "4 messages, 2 items: cut off what an interrupted write left: line 9 and");
    check(&|lines| lines[8] = lines[8].trim_end().to_owned(), "4 messages, 2 items: cut off");
    check(&|lines| zeros(&mut lines[8]), "4 messages, 2 items: cut off");
    check(&|lines| lines.truncate(7), "4 messages, 0 items: cut off what an interrupted write left: line 6 and");
    check(&|lines| lines.truncate(6), "archived items without their compaction");
    check(
        &|lines| {
            lines.truncate(8);
            zeros(&mut lines[5]);
        },
        "4 messages, 0 items: cut off",
    );
    check(
        &|lines| {
            lines.truncate(8);
            zeros(&mut lines[6]);
        },
        "4 messages, 0 items: cut off",
    );
    check(&|lines| lines[4..].iter_mut().for_each(zeros), "3 messages, 0 items: cut off");
    // In the middle: reported.
    check(
        &|lines| lines[2] = "{\"mess\n".into(),
        "line 3 of `FILE` is damaged: it is not JSON, and other records follow",
    );
    check(&|lines| lines[4] = "\n".into(), "line 5 of `FILE` is damaged");
    check(&|lines| zeros(&mut lines[6]), "line 7 of `FILE` is damaged");
    check(&|lines| lines[8] = "{\"dream\":1}\n".into(), "line 9 of `FILE` is damaged: unknown variant `dream`");
    check(&|lines| drop(lines.remove(7)), "the archived items in front of it have no compaction");
    check(&|lines| drop(lines.remove(6)), "1 archived items stand in front of a compaction of 2");
    check(&|lines| drop(lines.remove(1)), "compaction 0 of 4 messages stands where 0 of 3 is expected");
    check(&|lines| lines.push("{\"undo\":4}\n".into()), "line 10 of `FILE` is damaged: there is no compaction 4");
    check(
        &|lines| lines[5] = lines[5].replace("[0,2]", "[0,9]"),
        "line 6 of `FILE` is damaged: it refers to message 9",
    );
    // The header.
    check(&|lines| lines.clear(), "`FILE` is not a stored session: it is empty");
    check(&|lines| drop(lines.remove(0)), "`FILE` is not a stored session: its first line is not a header");
    check(
        &|lines| lines[0] = "{\"epitome\":2,\"new\":[]}\n".into(),
        "`FILE` has version 2 of the format, this program",
    );
}

#[test]
fn files_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut session, mut archive) = stored(&folder);
    let before = fs::read(&path).unwrap();
    let again = SessionFile::create(&path, &Session::new(), &mut SessionArchive::new());
    assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left lying about");

    let mut file = SessionFile::open(&path).unwrap().0;
    let second = SessionFile::open(&path);
    assert!(matches!(second, Err(StoreError::Locked { .. })), "{second:?}");
    file.rewrite(&session, &mut archive).unwrap();
    let second = SessionFile::open(&path);
    assert!(matches!(second, Err(StoreError::Locked { .. })), "a file that took its place is locked too: {second:?}");

    let early = file.commit(&session, &mut archive);
    assert!(matches!(early, Err(StoreError::OutOfStep { .. })), "there is nothing to commit: {early:?}");
    session.push(typed("e"));
    compact(&mut session, &mut archive);
    let early = file.commit(&session, &mut archive);
    assert!(matches!(early, Err(StoreError::OutOfStep { .. })), "a message was left out: {early:?}");
    assert!(matches!(file.undo(0), Err(StoreError::OutOfStep { .. })));
    assert!(matches!(SessionFile::open(folder.path().join("none")), Err(StoreError::Io { .. })));
}

#[test]
fn tools_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ..) = stored(&folder);
    let mut file = SessionFile::open(&path).unwrap().0;
    file.set_tools(Some("[1]")).unwrap();
    assert_eq!(SessionFile::read(&path).unwrap().session.tools.as_deref(), Some("[1]"));
    file.set_tools(None).unwrap();
    file.sync().unwrap();
    assert_eq!(SessionFile::read(&path).unwrap().session.tools, None);
}
