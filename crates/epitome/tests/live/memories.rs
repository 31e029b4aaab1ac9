//! Facts that outlive the context.

use std::sync::Arc;

use epitome::Session;
use epitome::live::LiveSession;
use epitome::store::{FileMemories, MemoryStore, Scope};

use super::support::{SMALL, compact, live, model, remembered, talk, user};

const FLUSH: &str = "[live]\nmemory_flush = true\n";

/// The same with the chains that ship.
const SHIPPED: &str = "[budget]\nwindow = 2000\nreserve_output = 0\n[live]\nmemory_flush = true\n";

/// All that the model reads.
fn all_text(live: &LiveSession) -> String {
    let texts = live.session().view().iter().map(|entry| entry.message.plain_text());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn facts_are_kept_before_a_compaction_and_come_back() {
    for toml in [&format!("{SMALL}{FLUSH}"), SHIPPED] {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn MemoryStore> = Arc::new(FileMemories::open(folder.path().join("memories.jsonl")).unwrap());
        let mut live = live(toml);
        live.remember_in(Arc::clone(&store), Scope::All);
        live.push(user("Start.")).unwrap();
        live.push(model("I do.")).unwrap();
        live.push(user("Please remember: the staging database is db-7.")).unwrap();
        live.push(model("I will.")).unwrap();
        talk(&mut live, 1_700);
        compact(&mut live).unwrap();
        assert_eq!(live.metrics().counters().flushed_memories, 1);
        let first = all_text(&live);
        assert!(first.contains("the staging database is db-7."), "it comes back at once\n{first}");
        for _ in 0..3 {
            talk(&mut live, 1_700);
            compact(&mut live).unwrap();
            let all = all_text(&live);
            assert_eq!(all.matches("the staging database is db-7.").count(), 1, "once in each generation\n{all}");
        }
        assert_eq!(live.metrics().counters().flushed_memories, 1, "what is known is not kept twice");
        // Another session, where nobody has said so.
        let mut other = super::support::live(toml);
        other.remember_in(store, Scope::All);
        other.push(user("Is the staging database up?")).unwrap();
        talk(&mut other, 1_700);
        compact(&mut other).unwrap();
        let (sections, lines) = remembered(other.session());
        assert_eq!((sections, lines.trim()), (1, "- “Please remember: the staging database is db-7.”"));
    }
}

#[test]
fn what_one_person_said_stays_out_of_anothers_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memories.jsonl");
    let store: Arc<dyn MemoryStore> = Arc::new(FileMemories::open(&path).unwrap());
    let runtime = super::support::runtime(&format!("{SMALL}{FLUSH}"));
    let told = |person: &str, fact: &str| {
        let mut session = Session::new();
        session.id = Some(person.into());
        let mut live = LiveSession::with_engine(epitome::engine_of(&runtime), &runtime, session);
        live.remember_in(Arc::clone(&store), Scope::Session(person.into()));
        live.push(user("Start.")).unwrap();
        live.push(model("I do.")).unwrap();
        live.push(user(fact)).unwrap();
        for _ in 0..2 {
            talk(&mut live, 1_700);
            compact(&mut live).unwrap();
        }
        all_text(&live)
    };
    assert!(told("alice", "Please remember: my account number is ACC-7741.").contains("ACC-7741"));
    let bob = told("bob", "Please remember: my account number is ACC-1234.");
    assert!(bob.contains("ACC-1234") && !bob.contains("ACC-7741"), "{bob}");
}
