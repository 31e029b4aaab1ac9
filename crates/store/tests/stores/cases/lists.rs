//! Lists of sessions, tenants, names.

use std::sync::Arc;

use epitome_session::{Message, MessageId, Origin, Role, Session};
use epitome_store::{
    Agent, Channel, Checkpoint, Memory, MemoryKind, Paging, Scope, SessionArchive, SessionFilter, SessionMetadata,
    Slice, Store, StoreError, Tenant, ViewKind,
};
use serde_json::json;

use crate::host::Host;

async fn create(store: &Store, tenant: &Tenant, id: &str, about: &SessionMetadata) -> Result<u64, StoreError> {
    let mut session = Session::new();
    session.push(Message::text("", Role::User, Origin::Typed, format!("{tenant}: hello")));
    store.create_session(tenant, id, about, &session, &mut SessionArchive::new()).await
}

async fn list(store: &Store, tenant: &Tenant, filter: &SessionFilter, most: u32) -> Vec<String> {
    let mut ids = Vec::new();
    let mut paging = Paging { most, after: None };
    loop {
        let page = store.sessions(tenant, filter, &paging).await.unwrap();
        assert!(page.items.len() <= most as usize);
        assert!(page.items.is_sorted_by(|one, next| one.updated_at >= next.updated_at), "the last changed first");
        ids.extend(page.items.iter().map(|info| info.id.to_string()));
        match page.next {
            Some(next) => paging.after = Some(next),
            None => return ids,
        }
    }
}

pub(crate) async fn sessions_are_listed_by_pages(store: Store) {
    let tenant = Tenant::default();
    for number in 0..23 {
        let about = SessionMetadata {
            agent: Some(["writer", "coder"][number % 2].to_owned()),
            title: (number % 3 > 0).then(|| format!("Reise Nr. {number}: 100%_Übermut")),
            settings: json!({"number": number}),
        };
        create(&store, &tenant, &format!("s{number:02}"), &about).await.unwrap();
    }
    let all = list(&store, &tenant, &SessionFilter::default(), 100).await;
    assert_eq!(all.len(), 23);
    for most in [1, 4, 22, 23] {
        assert_eq!(list(&store, &tenant, &SessionFilter::default(), most).await, all, "pages of {most}");
    }
    let count = async |filter: SessionFilter| list(&store, &tenant, &filter, 5).await.len();
    let titled = |title: &str| SessionFilter { title: Some(title.to_owned()), ..SessionFilter::default() };
    let of = |agent: &str| SessionFilter { agent: Some(agent.to_owned()), ..SessionFilter::default() };
    assert_eq!(count(of("writer")).await, 12);
    assert_eq!(count(of("nobody")).await, 0);
    assert_eq!(count(titled("reise nr. 1")).await, 8);
    assert_eq!(count(titled("100%_ÜBER")).await, 15);
    assert_eq!(count(titled("1%0")).await, 0, "signs of patterns are what they are");
    assert_eq!(count(SessionFilter { agent: Some("coder".to_owned()), ..titled("übermut") }).await, 7);
    let info = store.session_info(&tenant, "s07").await.unwrap();
    assert_eq!(
        (info.about.settings.clone(), info.messages, info.epochs, info.version),
        (json!({"number": 7}), 1, 0, 1)
    );
    let later = SessionFilter { updated_since: Some(info.updated_at + 1_000_000), ..SessionFilter::default() };
    assert_eq!(count(later).await, 0);
    let about = SessionMetadata { title: Some("Other".to_owned()), ..SessionMetadata::default() };
    store.describe(&tenant, "s07", &about).await.unwrap();
    let described = store.session_info(&tenant, "s07").await.unwrap();
    assert_eq!((described.about, described.version), (about.clone(), info.version));
    assert!(matches!(store.describe(&tenant, "none", &about).await, Err(StoreError::NotFound { .. })));
    for wrong in ["", "7", "x:s07"] {
        let (filter, paging) = (SessionFilter::default(), Paging { most: 5, after: Some(wrong.to_owned()) });
        let page = store.sessions(&tenant, &filter, &paging).await;
        assert!(matches!(page, Err(StoreError::Paging { .. })), "{wrong}");
    }
}

pub(crate) async fn tenants_see_their_own(store: Store) {
    let [one, other] = ["one", "other"].map(|name| Tenant::new(name).unwrap());
    let memory = |text: &str| Memory {
        text: text.to_owned(),
        kind: MemoryKind::Fact,
        session: Some("s".into()),
        message: MessageId::new("m"),
        time: None,
    };
    for tenant in [&one, &other] {
        create(&store, tenant, "s", &SessionMetadata::default()).await.unwrap();
        store.put_agent(tenant, &Agent { name: "a".to_owned(), settings: json!(tenant.as_str()) }).await.unwrap();
        let channel = Channel { name: "c".to_owned(), settings: json!(tenant.as_str()), key: None };
        store.put_channel(tenant, &channel).await.unwrap();
        let texts = [memory("both know this"), memory(&format!("{tenant} knows this"))];
        assert_eq!(store.remember(tenant, &texts).await.unwrap(), 2);
    }
    create(&store, &other, "secret", &SessionMetadata::default()).await.unwrap();
    // What one has is not to be had by the other, by any call.
    let missing = |result: Result<(), StoreError>| assert!(matches!(result, Err(StoreError::NotFound { .. })));
    missing(store.session(&one, "secret").await.map(drop));
    missing(store.session_info(&one, "secret").await.map(drop));
    missing(store.view(&one, "secret", ViewKind::Full, Slice::ALL).await.map(drop));
    missing(store.behind(&one, "secret", "m0", Slice::ALL).await.map(drop));
    missing(store.latest_summary(&one, "secret").await.map(drop));
    missing(store.describe(&one, "secret", &SessionMetadata::default()).await);
    let mut changed = Session::new();
    changed.push(Message::text("", Role::User, Origin::Typed, "one"));
    let (archive, before) = (&mut SessionArchive::new(), Checkpoint::default());
    missing(store.save(&one, "secret", 1, &changed, archive, &before).await.map(drop));
    assert!(!store.delete_session(&one, "secret").await.unwrap());
    assert_eq!(list(&store, &one, &SessionFilter::default(), 9).await, ["s"]);
    assert_eq!(list(&store, &other, &SessionFilter::default(), 9).await.len(), 2);
    for (tenant, stranger) in [(&one, "other"), (&other, "one")] {
        let stored = store.session(tenant, "s").await.unwrap().session;
        assert_eq!(stored.log()[0].plain_text(), format!("{tenant}: hello"));
        let recent = store.recent_memories(tenant, &Scope::All, 9).await.unwrap();
        assert_eq!(recent.len(), 2);
        for words in [stranger, "knows this both know"] {
            let found = store.search_memories(tenant, &Scope::All, words, 9).await.unwrap();
            assert!(found.iter().all(|memory| !memory.text.starts_with(stranger)));
        }
        assert_eq!(store.agents(tenant).await.unwrap()[0].settings, json!(tenant.as_str()));
        assert_eq!(store.channels(tenant).await.unwrap()[0].settings, json!(tenant.as_str()));
    }
    // Nor is it harmed by what the other deletes.
    let of_other = memory("other knows this").id();
    assert!(!store.forget_memory(&one, &of_other).await.unwrap());
    assert!(store.forget_memory(&one, &memory("both know this").id()).await.unwrap());
    assert!(store.delete_agent(&one, "a").await.unwrap() && store.delete_channel(&one, "c").await.unwrap());
    assert!(store.delete_session(&one, "s").await.unwrap());
    assert_eq!(store.recent_memories(&other, &Scope::All, 9).await.unwrap().len(), 2);
    assert_eq!(store.agents(&other).await.unwrap().len() + store.channels(&other).await.unwrap().len(), 2);
    assert_eq!(store.view(&other, "s", ViewKind::Full, Slice::ALL).await.unwrap().total, 1);
}

pub(crate) async fn memories_go_with_their_session(store: Store) {
    let tenant = Tenant::default();
    let memory = |text: &str, session: Option<&str>| Memory {
        text: text.to_owned(),
        kind: MemoryKind::Decision,
        session: session.map(Arc::from),
        message: MessageId::new("m"),
        time: None,
    };
    create(&store, &tenant, "s", &SessionMetadata::default()).await.unwrap();
    let texts = [memory("its own", Some("s")), memory("of another", Some("t")), memory("of nobody", None)];
    assert_eq!(store.remember(&tenant, &texts).await.unwrap(), 3);
    assert!(store.delete_session(&tenant, "s").await.unwrap());
    let left = store.recent_memories(&tenant, &Scope::All, 9).await.unwrap();
    assert_eq!(left.iter().map(|memory| &*memory.text).collect::<Vec<_>>(), ["of nobody", "of another"]);
    assert!(store.search_memories(&tenant, &Scope::All, "own", 9).await.unwrap().is_empty());
    // One of that name that comes later knows nothing of it.
    create(&store, &tenant, "s", &SessionMetadata::default()).await.unwrap();
    assert!(store.recent_memories(&tenant, &Scope::Session("s".into()), 9).await.unwrap().is_empty());
}

pub(crate) async fn odd_names_are_kept_or_refused(store: Store) {
    let odd = ["Robert'); DROP TABLE sessions;--", "%", "?1", "$1", "\"", "会话 一", " ", "a/b:c", "e\u{301}", "é"];
    let mut host = Host::new(&store, "host", 1).await;
    host.play(1, 3, |_| {}).await;
    for name in odd {
        let tenant = Tenant::new(name).unwrap();
        create(&store, &tenant, name, &SessionMetadata { title: Some(name.to_owned()), ..SessionMetadata::default() })
            .await
            .unwrap();
        let listed = store.sessions(&tenant, &SessionFilter::default(), &Paging::default()).await.unwrap();
        assert_eq!((listed.items.len(), &*listed.items[0].id), (1, name));
        assert_eq!(store.session(&tenant, name).await.unwrap().session.id.as_deref(), Some(name));
        assert!(matches!(
            create(&store, &tenant, name, &SessionMetadata::default()).await,
            Err(StoreError::Taken { .. })
        ));
    }
    for name in ["", "\0", "a\nb", &"x".repeat(201)] {
        assert!(matches!(Tenant::new(name), Err(StoreError::Name { .. })), "{name:?}");
        let refused = create(&store, &Tenant::default(), name, &SessionMetadata::default()).await;
        assert!(matches!(refused, Err(StoreError::Name { .. })), "{name:?}: {refused:?}");
        let agent = SessionMetadata { agent: Some(name.to_owned()), ..SessionMetadata::default() };
        assert!(matches!(create(&store, &Tenant::default(), "a", &agent).await, Err(StoreError::Name { .. })));
    }
    // Ids of messages are whatever a recording holds.
    let long: Arc<str> = "语".repeat(3_000).into();
    let ids: Vec<Arc<str>> = vec!["\0".into(), "a\0b".into(), Arc::clone(&long), format!("{long}2").into(), "'".into()];
    host.push(ids.iter().map(|id| Message::text(Arc::clone(id), Role::User, Origin::Typed, "\0 text")).collect()).await;
    while !host.compact().await {}
    host.assert_stored("odd ids").await;
}
