//! A disk that is full: a real limit on the size of files, in a process of its own. Whatever byte the room ends at, the
//! session in memory and the one in the file are those before or after the call, and `save` stores it once there is
//! room.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use epitome::engine::block_on;
use epitome::live::{LiveError, LiveSession};
use epitome::session::{Message, Origin, Role};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::support::{SMALL, compact, live, runtime, shown, talk, user, words};

/// Says to this test that it is the process with the limit.
const INSIDE: &str = "EPITOME_TEST_FULL_DISK";

#[test]
fn a_full_disk() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    // A write beyond the limit is an error, and not the end, for a process that ignores the signal; who starts it says so.
    let ran = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::a_full_disk", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

/// Files of this process may have so many bytes.
fn room(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

/// Something that is done to a session and stored.
struct Deed {
    name: &'static str,
    /// The preparation of the session.
    ready: fn(&mut LiveSession),
    deed: fn(&mut LiveSession) -> Result<(), LiveError>,
    /// Whether the change stays in memory, even where it could not be stored.
    stays: bool,
}

fn inside() {
    let deeds = [
        Deed { name: "push", ready: |_| {}, deed: |live| live.push(user(&words(99))).map(drop), stays: true },
        Deed { name: "compact", ready: |_| {}, deed: |live| compact(live).map(drop), stays: false },
        Deed { name: "undo", ready: |live| drop(compact(live).unwrap()), deed: |live| live.undo(0), stays: false },
        Deed {
            name: "maintain",
            ready: |live| talk(live, 1_950),
            deed: |live| block_on(live.maintain()).map(drop),
            stays: false,
        },
        Deed {
            name: "cut on arrival",
            ready: |_| {},
            deed: |live| live.push(Message::text("", Role::User, Origin::ToolOutput, &*"line\n".repeat(900))).map(drop),
            stays: true,
        },
    ];
    for deed in &deeds {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let prepared = || {
            fs::remove_file(&path).ok();
            let mut live = live(SMALL);
            live.keep_in(&path).unwrap();
            talk(&mut live, 1_700);
            (deed.ready)(&mut live);
            live.save().unwrap();
            live
        };
        // The number of bytes that it writes where there is room.
        let mut live = prepared();
        let start = fs::metadata(&path).unwrap().len();
        (deed.deed)(&mut live).unwrap();
        let (end, after) = (fs::metadata(&path).unwrap().len(), shown(live.session()));
        drop(live);
        assert!(end > start, "{}", deed.name);
        let step = ((end - start) / 12).max(1) as usize;
        for limit in (start..end).step_by(step).chain([end - 1]) {
            let mut live = prepared();
            let before = shown(live.session());
            room(Some(limit));
            let done = (deed.deed)(&mut live);
            let saved = live.save();
            room(None);
            let name = format!("{} with room for {} of {} bytes", deed.name, limit - start, end - start);
            assert!(matches!(done, Err(LiveError::Store(_))), "{name}: {done:?}");
            assert!(done.unwrap_err().is_retryable(), "{name}");
            let in_memory = shown(live.session());
            assert!(in_memory == before || deed.stays, "{name}: {in_memory:?}");
            // What was there before may fit when it is written anew, and a message when it is not cut.
            let stored = in_file(&path, folder.path());
            assert!(stored == before || (deed.stays && stored == in_memory), "{name}: {stored:?}");
            assert!(saved.is_err() || stored == in_memory, "{name}: {stored:?}");
            // The disk has room again.
            live.save().unwrap();
            assert_eq!(in_file(&path, folder.path()), in_memory, "{name}");
            if !deed.stays {
                (deed.deed)(&mut live).unwrap();
                assert_eq!(shown(live.session()), after, "{name}");
            }
            live.push(user("and on it goes")).unwrap();
            live.save().unwrap();
            let told = shown(live.session());
            drop(live);
            assert_eq!(shown(LiveSession::open(&runtime(SMALL), &path).unwrap().session()), told, "{name}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}: nothing is left lying about");
        }
    }
}

/// The session that another process would find in the file.
#[track_caller]
fn in_file(path: &Path, folder: &Path) -> Vec<String> {
    let copy = folder.join("copy.jsonl");
    fs::copy(path, &copy).unwrap();
    let session = shown(LiveSession::open(&runtime(SMALL), &copy).unwrap().session());
    fs::remove_file(&copy).unwrap();
    session
}
