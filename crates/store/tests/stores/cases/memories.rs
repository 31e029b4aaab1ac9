//! Memories: the same as in a file.

use std::sync::Arc;

use epitome_session::MessageId;
use epitome_store::{FileMemories, Memory, MemoryKind, MemoryStore, Scope, Store, Tenant, TenantMemories};

fn memory(text: &str, session: &str) -> Memory {
    let (session, message) = (Some(Arc::from(session)), MessageId::new("m"));
    Memory { text: text.to_owned(), kind: MemoryKind::Decision, session, message, time: Some(7) }
}

pub(crate) async fn memories_are_kept_once_and_found(store: Store) {
    check(&TenantMemories::new(store, Tenant::default())).await;
    let folder = tempfile::tempdir().unwrap();
    check(&FileMemories::open(folder.path().join("memories.jsonl")).unwrap()).await;
}

async fn check(memories: &dyn MemoryStore) {
    let texts = async |scope: &Scope| {
        let recent = memories.recent(scope, 99).await.unwrap();
        recent.into_iter().map(|memory| memory.text).collect::<Vec<_>>()
    };
    assert_eq!(memories.remember(&[]).await.unwrap(), 0);
    let twice = [memory("The fair is in Leipzig.", "a"), memory("the fair  is in leipzig", "b")];
    assert_eq!(memories.remember(&twice).await.unwrap(), 2, "what one session said another may keep");
    let more = [memory("The fair is in Leipzig!", "b"), memory("Tabs, never spaces.", "b")];
    assert_eq!(memories.remember(&more).await.unwrap(), 1);
    let all = ["Tabs, never spaces.", "the fair  is in leipzig", "The fair is in Leipzig."];
    assert_eq!(texts(&Scope::All).await, all, "the newest first");
    assert_eq!(
        memories.recent(&Scope::Session("a".into()), 9).await.unwrap(),
        [memory("The fair is in Leipzig.", "a")]
    );
    assert_eq!(memories.recent(&Scope::All, 1).await.unwrap().len(), 1);
    let id = |session| memory("TABS, never spaces", session).id();
    assert!(!memories.forget(&id("c")).await.unwrap(), "another session's is another memory");
    assert!(memories.forget(&id("b")).await.unwrap());
    assert!(!memories.forget(&id("b")).await.unwrap());
    assert_eq!(texts(&Scope::All).await, all[1..]);
    // What is said otherwise later takes the place of what was said, in its session.
    assert_eq!(memories.remember(&[memory("The fair is in Berlin.", "a")]).await.unwrap(), 1);
    assert_eq!(texts(&Scope::All).await, ["The fair is in Berlin.", "the fair  is in leipzig"]);
    let other = Memory { kind: MemoryKind::Fact, ..memory("The fair is in Bonn.", "a") };
    assert_eq!(memories.remember(&[other]).await.unwrap(), 1, "of another kind");
    assert_eq!(texts(&Scope::Session("a".into())).await, ["The fair is in Bonn.", "The fair is in Berlin."]);
    let found = async |scope: &Scope, words: &str, most: usize| {
        let found = memories.search(scope, words, most).await.unwrap();
        found.into_iter().map(|memory| memory.text).collect::<Vec<_>>()
    };
    assert!(found(&Scope::All, "tabs", 9).await.is_empty(), "what is forgotten is not found");
    assert_eq!(memories.remember(&[memory("Tabs, never spaces.", "b")]).await.unwrap(), 1, "it is new again");

    let said = ["The staging database is db-7", "Never touch the database on Friday", "测试环境的数据库是只读的"];
    let long = "x".repeat(5_000);
    memories.remember(&said.map(|text| memory(text, "c"))).await.unwrap();
    memories.remember(&[memory(&long, "d")]).await.unwrap();
    assert_eq!(found(&Scope::All, "DATABASE staging", 9).await, [said[0], said[1]], "most of the words first");
    assert_eq!(found(&Scope::All, "database", 9).await, [said[1], said[0]], "then the last stored");
    assert_eq!(found(&Scope::All, "database", 1).await, [said[1]]);
    assert_eq!(found(&Scope::All, "数据库", 9).await, [said[2]]);
    assert_eq!(found(&Scope::All, "db-7", 9).await, [said[0]]);
    assert_eq!(
        found(&Scope::Session("a".into()), "database fair", 9).await,
        ["The fair is in Bonn.", "The fair is in Berlin."]
    );
    for words in ["", "nothing", "%", "' OR 1=1 --"] {
        assert!(found(&Scope::All, words, 9).await.is_empty(), "{words}");
    }
    let many: String = (0..900).map(|number| format!("word{number} ")).collect();
    assert!(found(&Scope::All, &many, 9).await.is_empty());
}
