//! Hosts that are killed: whatever they were doing, the file holds a session that was there, with all that was said to be
//! stored.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use epitome_session::{Block, Content, Media, MediaSource, Message, Origin, Role, Session};
use epitome_store::{SessionArchive, SessionFile};
use support::{Host, assert_same};

/// Says to this program, started anew, that it is the host, and where its file is.
const FILE: &str = "EPITOME_STORE_TEST_FILE";
const SEED: &str = "EPITOME_STORE_TEST_SEED";
/// In front of what the host says; the rest is the test harness's own.
const STATE: &str = "stored ";

/// What a host does: everything that hosts do, and now and then a message that takes the disk a while.
fn live(path: &Path, seed: u64, mut after: impl FnMut(&Host)) {
    let mut host = Host::new(path, seed);
    host.file.set_sync_appends(seed.is_multiple_of(2));
    after(&host);
    for round in 0..4 {
        host.play(seed * 100 + round, 1, &mut after);
        let image = Media {
            mime: "image/png".into(),
            source: MediaSource::Base64("iVBOR".repeat(800_000).into()),
            ..Media::default()
        };
        let content = Block::new(Content::Media(image));
        host.push(Message::new("", Role::User, Origin::Typed, vec![Block::text(format!("image {round}")), content]));
        after(&host);
        if host.compact() {
            after(&host);
        }
    }
}

fn is_large(message: &Message) -> bool {
    message.plain_text().starts_with("image ")
}

fn name(session: &Session) -> String {
    session.state_hash().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The host, where this program was started as one; otherwise nothing.
#[test]
fn host() {
    let (Some(file), Ok(seed)) = (std::env::var_os(FILE), std::env::var(SEED)) else { return };
    let mut output = std::io::stdout();
    live(Path::new(&file), seed.parse().unwrap(), |host| {
        writeln!(output, "{STATE}{}", name(&host.session)).unwrap();
        output.flush().unwrap();
    });
}

/// Starts a host, kills it when it has said `patience` times that something is stored, and returns what it said.
fn killed(path: &Path, seed: u64, patience: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "host", "--nocapture", "--test-threads=1"])
        .env(FILE, path)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    // The harness prints the test's name in front of the first line.
    let mut next = |said: &mut Vec<String>| {
        let Some(Ok(line)) = lines.next() else { return false };
        said.extend(line.split_once(STATE).map(|(_, name)| name.to_owned()));
        true
    };
    while said.len() < patience && next(&mut said) {}
    if patience.is_multiple_of(2) {
        // Not between two writes but while the next one is under way.
        let length = || std::fs::metadata(path).unwrap().len();
        let before = length();
        while length() == before && child.try_wait().unwrap().is_none() {}
    }
    child.kill().unwrap();
    // What it said between the last line that was read and its end.
    while next(&mut said) {}
    child.wait().unwrap();
    said
}

#[test]
fn a_killed_host_leaves_what_it_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut cuts = 0;
    for seed in 1..=3 {
        let mut states: Vec<(Session, SessionArchive)> = Vec::new();
        live(&folder.path().join(format!("{seed}.jsonl")), seed, |host| {
            states.push((host.session.clone(), host.archive.clone()));
        });
        // Around each of the large messages, and elsewhere now and then.
        let large = |at: &usize| states.get(*at).and_then(|(it, _)| it.log().last()).is_some_and(|it| is_large(it));
        let moments = (1..states.len()).filter(|at| large(at) || large(&(at + 1)) || at % 9 == 0);
        for patience in moments {
            let path = folder.path().join(format!("{seed}-{patience}.jsonl"));
            let said = killed(&path, seed, patience);
            let (file, opened) = SessionFile::open(&path).unwrap();
            cuts += usize::from(opened.repaired.is_some());
            let at = states.iter().position(|(session, _)| session.state_hash() == opened.session.state_hash());
            let Some(at) = at else { panic!("seed {seed}, {patience}: a session that never was") };
            let (session, archive) = &states[at];
            assert_same(&opened, session, archive, &format!("seed {seed}, {patience}"));
            assert!(said.len() >= patience.min(states.len()), "the host said too little: {said:?}");
            assert!(said.iter().zip(&states).all(|(said, (session, _))| *said == name(session)));
            let stored = at + 1;
            assert!(
                (said.len()..=said.len() + 1).contains(&stored),
                "seed {seed}: {stored} states are stored, {} were said to be",
                said.len()
            );
            drop(file);
            std::fs::remove_file(path).unwrap();
        }
    }
    writeln!(std::io::stderr(), "{cuts} of the killed hosts left a line half written").unwrap();
}
