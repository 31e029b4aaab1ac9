//! Recorded sessions: stored, compacted, stored again, and read back as they were; and what is remembered of them.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome_engine::{Chain, Engine, Request, SignalDetector, block_on};
use epitome_formats::{ReadOptions, read};
use epitome_store::{LONGEST_MEMORY, SessionArchive, SessionFile, extract};
use epitome_strategy::Lexicon;
use epitome_testkit::FakeCounter;

fn tell(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Some files of each format; none where there are no recorded sessions.
fn recorded() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or(root.join("../shared/data/dev"), PathBuf::from);
    let Ok(formats) = std::fs::read_dir(&folder) else {
        tell("NOT RUN on recorded sessions: there is no folder `$EPITOME_SESSIONS` or `../shared/data/dev`");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for format in formats.filter_map(Result::ok) {
        let Ok(entries) = std::fs::read_dir(format.path()) else { continue };
        let mut of_format: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        of_format.sort();
        files.extend(of_format.into_iter().take(4));
    }
    files
}

#[test]
fn recorded_sessions_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
    let (mut sessions, mut items, mut memories) = (0, 0, 0);
    for file in recorded() {
        let Ok(loaded) = read(std::fs::read(&file).unwrap(), ReadOptions::default()) else { continue };
        for (index, found) in loaded.sessions.iter().take(3).enumerate() {
            let what = format!("{} {}", file.display(), found.name);
            let mut session = found.session.clone();
            let path = folder.path().join(format!("{sessions}-{index}.jsonl"));
            let mut archive = SessionArchive::new();
            let mut stored = SessionFile::create(&path, &session, &mut archive).unwrap();
            assert_eq!(SessionFile::read(&path).unwrap().session.state_hash(), session.state_hash(), "{what}");

            let mut ledger = engine.ledger(&session);
            let request = Request { chain: Some(Chain(Vec::new())), ..Request::to_budget(ledger.total() / 3) };
            let epochs = session.next_epoch();
            block_on(engine.compact(&mut session, &mut ledger, &mut archive, &request)).unwrap();
            if session.next_epoch() > epochs {
                stored.commit(&session, &mut archive).unwrap();
            }
            drop(stored);
            let (_, opened) = SessionFile::open(&path).unwrap();
            assert_eq!(opened.session.state_hash(), session.state_hash(), "{what}");
            assert!(opened.session.log() == session.log(), "{what}");
            assert!(opened.session.journal() == session.journal(), "{what}");
            assert!(opened.session.view() == session.view(), "{what}");
            archive.discard_pending();
            assert!(opened.archive.items().eq(archive.items()), "{what}");
            items += archive.len();
            sessions += 1;

            let remembered = extract(session.log(), session.id.as_ref(), &Lexicon::standard(), 10);
            memories += remembered.len();
            for memory in &remembered {
                assert!(memory.text.chars().count() <= LONGEST_MEMORY, "{what}");
                let said = session.log().iter().find(|message| message.id == memory.message).unwrap();
                // A speaker's name may stand in front, and behind a relative day the date of the message; marks of emphasis go.
                let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).collect::<String>();
                let dated = memory.text.rsplit_once(['(', '（']).map_or(&*memory.text, |(words, _)| words);
                let named = |text: &str| text.split_once(": ").map_or(String::new(), |(_, words)| letters(words));
                let forms = [letters(&memory.text), letters(dated), named(&memory.text), named(dated)];
                let all = letters(&said.plain_text());
                let is_said = forms.iter().any(|form| !form.is_empty() && all.contains(form.as_str()));
                assert!(is_said, "{what}: `{}` is not word by word", memory.text);
            }
            std::fs::remove_file(path).unwrap();
        }
    }
    tell(&format!("{sessions} recorded sessions stored and read back; {items} archived items, {memories} memories"));
    assert!(sessions == 0 || items > 0);
}
