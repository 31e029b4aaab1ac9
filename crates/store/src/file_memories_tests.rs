#![allow(clippy::unwrap_used)]
use std::fs;
use std::sync::Arc;

use epitome_session::MessageId;
use tempfile::TempDir;

use epitome_engine::block_on;

use super::*;
use crate::memory::MemoryKind;

fn memory(text: &str, session: &str) -> Memory {
    let (session, message) = (Some(Arc::from(session)), MessageId::new("m"));
    Memory { text: text.to_owned(), kind: MemoryKind::Fact, session, message, time: Some(7) }
}

fn store(folder: &TempDir) -> FileMemories {
    FileMemories::open(folder.path().join("memories.jsonl")).unwrap()
}

fn recent(store: &FileMemories) -> Vec<String> {
    block_on(store.recent(&Scope::All, 999)).unwrap().into_iter().map(|memory| memory.text).collect()
}

#[test]
fn memories_are_shared_and_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (store(&folder), store(&folder));
    let fairs = [memory("The fair is in Leipzig.", "a"), memory("the fair  is in leipzig", "b")];
    assert_eq!(block_on(one.remember(&fairs)).unwrap(), 2, "what one session said another may keep");
    let more = [memory("The fair is in Leipzig!", "b"), memory("Tabs, never spaces.", "b")];
    assert_eq!(block_on(other.remember(&more)).unwrap(), 1);
    for store in [&one, &other, &store(&folder)] {
        let all = ["Tabs, never spaces.", "the fair  is in leipzig", "The fair is in Leipzig."];
        assert_eq!(recent(store), all, "the newest first");
        assert_eq!(block_on(store.recent(&Scope::Session("a".into()), 9)).unwrap(), fairs[..1]);
        assert_eq!(block_on(store.recent(&Scope::All, 1)).unwrap().len(), 1);
    }
    let id = memory("TABS, never spaces", "b").id();
    assert!(block_on(one.forget(&id)).unwrap());
    assert!(!block_on(other.forget(&id)).unwrap(), "the other knows that it is gone");
    assert_eq!(recent(&other), ["the fair  is in leipzig", "The fair is in Leipzig."]);
    let tabs = memory("Tabs, never spaces.", "b");
    assert_eq!(block_on(other.remember(&[tabs])).unwrap(), 1, "what was forgotten is new again");
    assert_eq!(block_on(one.remember(&[memory("The fair is in Berlin.", "a")])).unwrap(), 1);
    let all = ["The fair is in Berlin.", "Tabs, never spaces.", "the fair  is in leipzig"];
    for store in [&one, &other, &store(&folder)] {
        assert_eq!(recent(store), all, "what was said later takes the place of what was said");
    }
}

#[test]
fn memories_are_found_by_words() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let texts = ["The staging database is db-7", "Never touch the database on Friday", "测试环境的数据库是只读的"];
    block_on(store.remember(&texts.map(|text| memory(text, "a")))).unwrap();
    let check = |words: &str, expect: &[&str]| {
        let found = block_on(store.search(&Scope::All, words, 2)).unwrap();
        assert_eq!(found.iter().map(|memory| memory.text.as_str()).collect::<Vec<_>>(), expect, "{words}");
    };
    check("database", &[texts[1], texts[0]]);
    check("STAGING database", &[texts[0], texts[1]]);
    check("db-7", &[texts[0]]);
    check("数据库", &[texts[2]]);
    check("nothing of it", &[]);
    assert!(block_on(store.search(&Scope::Session("b".into()), "database", 9)).unwrap().is_empty());
}

#[test]
fn an_interrupted_write_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memories.jsonl");
    block_on(store(&folder).remember(&[memory("One.", "a"), memory(&"Two. ".repeat(60), "a")])).unwrap();
    let bytes = fs::read(&path).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let store = store(&folder);
        let whole = bytes[..length].iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
        assert_eq!(recent(&store).len(), whole, "{length} bytes");
        assert_eq!(block_on(store.remember(&[memory("Three.", "a")])).unwrap(), 1);
        assert!(fs::read(&path).unwrap().ends_with(b"\n"), "nothing of the cut line is left");
        assert_eq!(recent(&self::store(&folder)).len(), whole + 1, "{length} bytes");
        assert!(length < header || fs::read(&path).unwrap().starts_with(&bytes[..header]));
    }
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memories.jsonl");
    let check = |content: &str, expect: &str| {
        fs::write(&path, content).unwrap();
        let error = FileMemories::open(&path).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    };
    check("a note", "is not a file of memories");
    check("{\"epitome\":1}\n", "is not a file of memories");
    check("{\"epitome_memories\":2}\n", "has version 2 of the format");
    check("{\"epitome_memories\":1}\nx\n{\"forget\":\"1\"}\n", "line 2 of");
}

#[test]
fn two_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store(&folder);
            std::thread::spawn(move || {
                for number in 0..20 {
                    let memories =
                        [memory(&format!("number {number} of all"), "a"), memory(&format!("{writer}-{number}"), "a")];
                    block_on(store.remember(&memories)).unwrap();
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(recent(&store(&folder)).len(), 20 + 80);
}
