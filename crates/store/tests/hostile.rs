//! Sessions as hosts keep them, with everything that can happen to one: what is read back is what was there.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use epitome_harness::hostile;
use epitome_session::Session;
use epitome_store::{SessionArchive, SessionFile};
use support::{Host, assert_same};

#[test]
fn a_session_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (mut compactions, mut undone, mut items) = (0, 0, 0);
    for seed in 0..150 {
        let path = folder.path().join(format!("{seed}.jsonl"));
        let mut host = Host::new(&path, seed);
        host.play(seed, 6, |_| {});
        let Host { session, archive, file, .. } = host;
        drop(file);
        let (_, opened) = SessionFile::open(&path).unwrap();
        assert_same(&opened, &session, &archive, &format!("seed {seed}"));
        assert_eq!(opened.session.state_hash(), session.state_hash(), "seed {seed}");
        assert_eq!(opened.repaired, None);
        compactions += session.journal().len();
        undone += session.journal().iter().filter(|epoch| epoch.undone).count();
        items += archive.len();
    }
    assert!(compactions > 300 && undone > 50 && items > 1_000, "{compactions} {undone} {items}");
}

#[test]
fn a_reopened_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let path = folder.path().join(format!("{seed}.jsonl"));
        let mut host = Host::new(&path, seed);
        for round in 0..4 {
            host.play(seed * 7 + round, 1, |_| {});
            drop(std::mem::replace(&mut host.file, Host::new(&path.with_extension("other"), 0).file));
            fs::remove_file(path.with_extension("other")).unwrap();
            let (file, opened) = SessionFile::open(&path).unwrap();
            assert_same(&opened, &host.session, &host.archive, &format!("seed {seed}, round {round}"));
            (host.file, host.session, host.archive) = (file, opened.session, opened.archive);
        }
    }
}

#[test]
fn a_whole_session_is_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..60 {
        let path = folder.path().join(format!("{seed}.jsonl"));
        let mut host = Host::new(&path, seed);
        host.play(seed, 4, |_| {});
        host.session.id = Some("a session".into());
        host.session.tools = Some(r#"[{"name": "run"}]"#.into());
        let copy = folder.path().join(format!("{seed}.copy.jsonl"));
        drop(SessionFile::create(&copy, &host.session, &mut host.archive).unwrap());
        let read = SessionFile::read(&copy).unwrap();
        assert!(read.session.log() == host.session.log() && read.session.journal() == host.session.journal());
        assert!(read.session.view() == host.session.view(), "seed {seed}");
        assert_eq!(read.session.state_hash(), host.session.state_hash(), "seed {seed}");
        assert_eq!((&read.session.id, &read.session.tools), (&host.session.id, &host.session.tools));
        let mut same: Vec<_> = read.archive.items().collect();
        same.sort_by_key(|(handle, _)| *handle);
        let mut items: Vec<_> = host.archive.items().collect();
        items.sort_by_key(|(handle, _)| *handle);
        assert!(host.session.journal().is_empty() || same == items, "seed {seed}");

        host.file.rewrite(&host.session, &mut host.archive).unwrap();
        host.play(!seed, 1, |_| {});
        let again = SessionFile::read(&path).unwrap();
        assert!(again.session.view() == host.session.view(), "seed {seed}: it goes on behind a rewrite");
        assert_eq!(again.repaired, None);
    }
}

/// A killed process leaves some first bytes of the file, and whatever they are, a session that was there once.
#[test]
fn every_prefix_of_a_file_is_a_session_that_was() {
    let folder = tempfile::tempdir().unwrap();
    for seed in [3, 11, 27, 31] {
        let path = folder.path().join(format!("{seed}.jsonl"));
        let mut host = Host::new(&path, seed);
        let header = fs::metadata(&path).unwrap().len();
        let mut states: Vec<(u64, Session, SessionArchive)> = Vec::new();
        states.push((header, host.session.clone(), host.archive.clone()));
        host.play(seed, 3, |host| {
            states.push((fs::metadata(&path).unwrap().len(), host.session.clone(), host.archive.clone()));
        });
        let bytes = fs::read(&path).unwrap();
        let cut = folder.path().join("cut.jsonl");
        let mut at = header;
        while at <= bytes.len() as u64 {
            fs::write(&cut, &bytes[..at as usize]).unwrap();
            let (file, opened) = SessionFile::open(&cut).unwrap();
            let (length, session, archive) = states.iter().rev().find(|(length, ..)| *length <= at).unwrap();
            assert_eq!(opened.session.state_hash(), session.state_hash(), "seed {seed}, byte {at}");
            assert_same(&opened, session, archive, &format!("seed {seed}, byte {at}"));
            assert_eq!(opened.repaired.is_some(), *length < at, "it is said exactly when something was cut");
            assert_eq!(fs::metadata(&cut).unwrap().len(), *length);
            drop(file);
            // Every byte around the ends of writes, some between.
            let near = states.iter().any(|(length, ..)| length.abs_diff(at) < 3);
            at += if near { 1 } else { 97 };
        }
    }
}

#[test]
fn archived_contents_are_references_into_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (mut count, mut archived, mut log) = (0, 0, 0);
    for seed in 0..20 {
        let path = folder.path().join(format!("{seed}.jsonl"));
        let mut host = Host::new(&path, seed);
        for message in hostile::session(seed, 80).log() {
            host.push((**message).clone());
        }
        if host.compact() {
            let text = fs::read_to_string(&path).unwrap();
            let items = text.lines().filter(|line| line.starts_with(r#"{"archived""#)).map(str::len);
            count += items.clone().count();
            archived += items.sum::<usize>();
            log += text.lines().filter(|line| line.starts_with(r#"{"message""#)).map(str::len).sum::<usize>();
        }
    }
    assert!(count > 20 && archived * 20 < log, "{count} items of {archived} bytes, a log of {log}");
}
