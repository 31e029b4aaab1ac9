//! Recorded sessions: stored, compacted, stored again, and read back as they were; and what is remembered of them.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome_engine::{Chain, Engine, Request, SignalDetector, block_on};
use epitome_formats::{ReadOptions, read};
use epitome_store::{LONGEST_MEMORY, MemoryKind, SessionArchive, SessionFile, extract};
use epitome_strategy::{Content, Lexicon, Message};
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
            // Marks of emphasis go; of what a command showed the session has the command, or the hash and the subject.
            let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).collect::<String>();
            let mut all: Option<String> = None;
            for memory in &remembered {
                assert!(memory.text.chars().count() <= LONGEST_MEMORY, "{what}");
                let all = all.get_or_insert_with(|| letters(&whole_text(session.log())));
                let parts = match memory.kind {
                    MemoryKind::Command => vec![memory.text.split('`').nth(1).unwrap()],
                    MemoryKind::Commit => {
                        memory.text.splitn(2, ": ").flat_map(|part| part.split(" on branch ")).collect()
                    }
                    _ => vec![&*memory.text],
                };
                for part in parts {
                    let part = letters(part.trim_start_matches("Commit ").trim_end_matches('…'));
                    assert!(all.contains(&part), "{what}: {}", memory.text);
                }
            }
            std::fs::remove_file(path).unwrap();
        }
    }
    tell(&format!("{sessions} recorded sessions stored and read back; {items} archived items, {memories} memories"));
    assert!(sessions == 0 || items > 0);
}

/// Everything that is said, called and printed in a session; what JSON escapes is read.
fn whole_text(log: &[Arc<Message>]) -> String {
    let mut text = String::new();
    for block in log.iter().flat_map(|message| &message.blocks) {
        match &block.content {
            Content::Text { text: said } => text.push_str(said),
            Content::ToolResult(result) => text.push_str(&result.text),
            Content::ToolCall(call) => {
                text.push_str(&call.name);
                let arguments = call.arguments.text();
                match serde_json::from_str::<serde_json::Value>(arguments) {
                    Ok(json) => strings_of(&json, &mut text),
                    Err(_) => text.push_str(arguments),
                }
            }
            _ => {}
        }
        text.push('\n');
    }
    text
}

fn strings_of(json: &serde_json::Value, text: &mut String) {
    match json {
        serde_json::Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings_of(item, text)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| strings_of(field, text)),
        other => text.push_str(&other.to_string()),
    }
}
