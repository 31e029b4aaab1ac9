//! Facts that outlive the context.

use std::sync::Arc;

use epitome::store::{FileMemories, MemoryStore};

use super::support::{SMALL, Scripted, compact, model, talk, user, with_summarizer};

#[test]
fn facts_are_kept_before_a_compaction_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn MemoryStore> = Arc::new(FileMemories::open(folder.path().join("memories.jsonl")).unwrap());
    let summarizer = Arc::new(Scripted::default());
    let mut live = with_summarizer(&format!("{SMALL}[live]\nmemory_flush = true\n"), &summarizer);
    live.remember_in(store);
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
