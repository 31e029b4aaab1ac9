#![allow(clippy::unwrap_used)]
use std::fs;

use super::*;

/// A file of a folder of its own, which goes when it is dropped.
fn file(content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn add(path: &Path, content: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(content.as_bytes()).unwrap();
}

/// Something that happens to a file between its reading and the writing.
type Meanwhile = fn(&Path);

#[test]
fn a_file_takes_what_is_appended_while_it_is_what_was_read() {
    let check = |content: &str, meanwhile: Meanwhile, expect: InPlaceOutcome, holds: &str| {
        let (_folder, path) = file(content);
        let (original, bytes) = Original::read(&path).unwrap();
        assert_eq!(bytes, content.as_bytes());
        meanwhile(&path);
        assert_eq!(original.append(b"{\"c\":3}\n").unwrap(), expect, "{content}");
        assert_eq!(fs::read_to_string(&path).unwrap(), holds);
    };
    check("{\"a\":1}\n", |_| {}, InPlaceOutcome::Whole, "{\"a\":1}\n{\"c\":3}\n");
    check("{\"a\":1}\n", |path| add(path, "{\"b\":2}\n"), InPlaceOutcome::Changed, "{\"a\":1}\n{\"b\":2}\n");
    check("{\"a\":1}\n", |path| fs::write(path, "{\"b\":1}\n").unwrap(), InPlaceOutcome::Changed, "{\"b\":1}\n");
    check("{\"a\":1}\n", |path| fs::write(path, "").unwrap(), InPlaceOutcome::Changed, "");
    check(
        "{\"a\":1}\n",
        |path| {
            let other = path.with_extension("other");
            fs::write(&other, "{\"a\":1}\n").unwrap();
            fs::rename(other, path).unwrap();
        },
        if cfg!(unix) { InPlaceOutcome::Changed } else { InPlaceOutcome::Whole },
        if cfg!(unix) { "{\"a\":1}\n" } else { "{\"a\":1}\n{\"c\":3}\n" },
    );
    check("{\"a\":1}\n{\"b\":", |_| {}, InPlaceOutcome::Changed, "{\"a\":1}\n{\"b\":");
    check("{\"a\":1}\n{\"b\":2}", |_| {}, InPlaceOutcome::Whole, "{\"a\":1}\n{\"b\":2}{\"c\":3}\n");
}

#[test]
fn a_file_is_replaced_while_it_is_what_was_read() {
    let check = |meanwhile: Meanwhile, expect: InPlaceOutcome, holds: &str| {
        let (folder, path) = file("[1]\n");
        let (original, _) = Original::read(&path).unwrap();
        meanwhile(&path);
        assert_eq!(original.replace(b"[2]\n").unwrap(), expect);
        assert_eq!(fs::read_to_string(&path).unwrap(), holds);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    };
    check(|_| {}, InPlaceOutcome::Whole, "[2]\n");
    check(|path| add(path, "[3]\n"), InPlaceOutcome::Changed, "[1]\n[3]\n");
    check(|path| fs::write(path, "[4]\n").unwrap(), InPlaceOutcome::Changed, "[4]\n");
}

#[test]
fn a_file_that_another_has_locked_takes_nothing() {
    let (_folder, path) = file("{}\n");
    let (original, _) = Original::read(&path).unwrap();
    let other = File::open(&path).unwrap();
    other.lock().unwrap();
    assert_eq!(original.append(b"{}\n").unwrap(), InPlaceOutcome::Changed);
    assert_eq!(original.replace(b"[]\n").unwrap(), InPlaceOutcome::Changed);
    assert_eq!(fs::read(&path).unwrap(), b"{}\n");
    other.unlock().unwrap();
    assert_eq!(original.append(b"{}\n").unwrap(), InPlaceOutcome::Whole);
}

#[test]
fn lines_that_come_between_the_look_and_the_write_are_seen() {
    let (_folder, path) = file("1\n");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    assert_eq!(append_at_once(&mut file, 2, b"2\n").unwrap(), 4);
    add(&path, "3\n");
    assert_eq!(append_at_once(&mut file, 4, b"4\n").unwrap(), 8, "and not 6");
    assert_eq!(fs::read(&path).unwrap(), b"1\n2\n3\n4\n");
}

#[test]
fn what_is_half_written_is_taken_back_if_nothing_came_behind_it() {
    let check = |behind: &str, holds: &str| {
        let (_folder, path) = file("1\nhalf");
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        add(&path, behind);
        assert_eq!(take_back(&file, 2, 4, io::ErrorKind::StorageFull.into()).kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), holds);
    };
    check("", "1\n");
    check("{}\n", "1\nhalf{}\n");
}
