//! Facts that outlive the context.

use std::sync::Arc;

use epitome::Session;
use epitome::live::LiveSession;
use epitome::store::{FileMemories, MemoryStore, Scope};

use super::support::{SMALL, Scripted, compact, model, talk, user, with_summarizer};

#[test]
fn facts_are_kept_before_a_compaction_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn MemoryStore> = Arc::new(FileMemories::open(folder.path().join("memories.jsonl")).unwrap());
    let summarizer = Arc::new(Scripted::default());
    let mut live = with_summarizer(&format!("{SMALL}[live]\nmemory_flush = true\n"), &summarizer);
    live.remember_in(store, Scope::All);
    live.push(user("Please remember: the staging database is db-7.")).unwrap();
    live.push(model("I will.")).unwrap();
    talk(&mut live, 1_700);
    compact(&mut live).unwrap();
    assert_eq!(*summarizer.memories.lock().unwrap(), [Vec::<String>::new()], "nothing is known yet");
    assert_eq!(live.metrics().counters().flushed_memories, 1);

    talk(&mut live, 1_700);
    compact(&mut live).unwrap();
    let told = summarizer.memories.lock().unwrap().clone();
    assert!(told[1].iter().any(|memory| memory.contains("db-7")), "{told:?}");
    assert_eq!(live.metrics().counters().flushed_memories, 1, "what is known is not kept twice");
}

#[test]
fn what_one_person_said_stays_out_of_anothers_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memories.jsonl");
    let store: Arc<dyn MemoryStore> = Arc::new(FileMemories::open(&path).unwrap());
    let toml = format!("{SMALL}[live]\nmemory_flush = true\n");
    let told = |person: &str, fact: &str| {
        let summarizer = Arc::new(Scripted::default());
        let runtime = super::support::runtime(&toml);
        let mut engine = epitome::engine_of(&runtime);
        engine.summarizer = Some(summarizer.clone());
        let mut session = Session::new();
        session.id = Some(person.into());
        let mut live = LiveSession::with_engine(engine, &runtime, session);
        live.remember_in(Arc::clone(&store), Scope::Session(person.into()));
        live.push(user(fact)).unwrap();
        for _ in 0..2 {
            talk(&mut live, 1_700);
            compact(&mut live).unwrap();
        }
        summarizer.memories.lock().unwrap().concat().join("; ")
    };
    assert!(told("alice", "Please remember: my account number is ACC-7741.").contains("ACC-7741"));
    let bob = told("bob", "Please remember: my account number is ACC-1234.");
    assert!(bob.contains("ACC-1234") && !bob.contains("ACC-7741"), "{bob}");
}
