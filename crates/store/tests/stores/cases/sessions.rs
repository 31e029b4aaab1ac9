//! Sessions come back as they were, and change whole or not at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome_engine::{Chain, Engine, Request, SignalDetector};
use epitome_formats::{ReadOptions, read};
use epitome_session::{Epoch, Message, Origin, Role, Session};
use epitome_store::{
    Checkpoint, OpenedSession, SessionArchive, SessionFile, SessionMetadata, Store, StoreError, Tenant,
};
use epitome_testkit::FakeCounter;

use crate::host::{Host, assert_same};
use crate::tell;

pub(crate) async fn a_session_comes_back_as_it_was(store: Store) {
    let (mut compactions, mut undone, mut items) = (0, 0, 0);
    for seed in 0..60 {
        let mut host = Host::new(&store, &format!("s{seed}"), seed).await;
        host.play(seed, 5, |_| {}).await;
        host.assert_stored(&format!("seed {seed}")).await;
        compactions += host.session.journal().len();
        undone += host.session.journal().iter().filter(|epoch| epoch.undone).count();
        items += host.archive.len();
    }
    assert!(compactions > 100 && undone > 15 && items > 300, "{compactions} {undone} {items}");
}

pub(crate) async fn a_whole_session_is_stored_at_once(store: Store) {
    let folder = tempfile::tempdir().unwrap();
    let tenant = Tenant::default();
    for seed in 0..30 {
        let mut host = Host::new(&store, "played", seed).await;
        host.play(seed, 4, |_| {}).await;
        let tools = Some(Arc::from(r#"[{"name": "run"}]"#));
        host.session.tools = tools;
        let about = SessionMetadata::default();
        let mut archive = host.archive.clone();
        let version = store.create_session(&tenant, "whole", &about, &host.session, &mut archive).await.unwrap();
        host.save().await;
        host.assert_stored("with tools").await;
        let stored = store.session(&tenant, "whole").await.unwrap();
        assert_eq!(stored.version, version);
        assert!(stored.session.log() == host.session.log() && stored.session.journal() == host.session.journal());
        assert!(stored.session.view() == host.session.view(), "seed {seed}");
        assert_eq!(stored.session.tools, host.session.tools);
        assert_eq!(stored.session.state_hash(), host.session.state_hash(), "seed {seed}");
        assert!(host.session.journal().is_empty() || stored.archive.len() == host.archive.len(), "seed {seed}");
        assert!(matches!(
            store.create_session(&tenant, "whole", &about, &host.session, &mut archive).await,
            Err(StoreError::Taken { of: "session", .. })
        ));
        assert_eq!(store.session(&tenant, "whole").await.unwrap().version, version, "a second one changes nothing");

        // To a file and back.
        let mut stored = stored;
        let path = folder.path().join(format!("{seed}.jsonl"));
        drop(SessionFile::create(&path, &stored.session, &mut stored.archive).unwrap());
        let OpenedSession { session, mut archive, .. } = SessionFile::read(&path).unwrap();
        store.create_session(&tenant, "copy", &about, &session, &mut archive).await.unwrap();
        let copy = store.session(&tenant, "copy").await.unwrap();
        assert!(copy.session.view() == session.view() && copy.session.journal() == session.journal());
        assert!(store.delete_session(&tenant, "copy").await.unwrap());

        let mut whole = Host::load(&store, "whole", seed).await;
        whole.play(!seed, 2, |_| {}).await;
        whole.assert_stored("it goes on").await;
        assert!(store.delete_session(&tenant, "whole").await.unwrap());
        assert!(store.delete_session(&tenant, "played").await.unwrap());
        assert!(!store.delete_session(&tenant, "played").await.unwrap());
        assert!(matches!(store.session(&tenant, "played").await, Err(StoreError::NotFound { .. })));
    }
}

pub(crate) async fn a_session_goes_on_where_it_is_loaded(store: Store) {
    for seed in 0..15 {
        let id = format!("s{seed}");
        let mut host = Host::new(&store, &id, seed).await;
        for round in 0..4 {
            host.play(seed * 7 + round, 1, |_| {}).await;
            let next = Host::load(&store, &id, seed).await;
            assert_eq!((next.session.state_hash(), next.version), (host.session.state_hash(), host.version));
            host = next;
        }
        host.assert_stored(&id).await;
    }
}

pub(crate) async fn what_is_new_is_saved_at_once(store: Store) {
    let tenant = Tenant::default();
    let (mut epochs, mut late_undos) = (0, 0);
    for seed in 0..40 {
        let id = format!("s{seed}");
        let mut host = Host::new(&store, &id, seed).await;
        host.is_lazy = true;
        for round in 0..4 {
            let undone = host.session.journal().iter().map(|epoch| epoch.undone).collect::<Vec<_>>();
            host.play(seed * 5 + round, 1 + round as usize % 3, |_| {}).await;
            host.session.tools = host.session.tools.clone().or((round == 2).then(|| "[]".into()));
            let before = host.version;
            while round == 3 && seed % 2 == 0 && host.undo().await {} // those that stand on others too
            host.save().await;
            let what = format!("seed {seed}, round {round}");
            let mut stored = store.session(&tenant, &id).await.unwrap();
            assert_eq!(stored.version, host.version, "{what}");
            assert!(host.version >= before);
            assert!(stored.session.log() == host.session.log(), "{what}: the log");
            assert!(stored.session.journal() == host.session.journal(), "{what}: the journal");
            assert!(stored.session.view() == host.session.view(), "{what}: the view");
            assert_eq!(stored.session.tools, host.session.tools, "{what}");
            host.archive.discard_pending();
            assert!(stored.archive.items().eq(host.archive.items()), "{what}: the archive");
            late_undos += undone.iter().zip(host.session.journal()).filter(|(was, it)| it.undone && !**was).count();
            epochs += host.session.journal().len() - undone.len();
            // Nothing is new.
            let (version, stored_now) = (stored.version, Checkpoint::new(&stored.session));
            let again = store.save(&tenant, &id, version, &stored.session, &mut stored.archive, &stored_now).await;
            assert_eq!(again.unwrap(), version);
        }
        host.session.push(Message::text("late", Role::User, Origin::Typed, "one more"));
        let wrong = host.try_save(host.version + 1).await;
        assert!(matches!(wrong, Err(StoreError::Conflict { .. })), "{wrong:?}");
        // Another session, of which the store has another part.
        let mut other = Session::new();
        for _ in 0..host.session.log().len() + 3 {
            other.push(Message::text("other", Role::User, Origin::Typed, "another session"));
        }
        let nothing = Checkpoint::default();
        let other_save = store.save(&tenant, &id, host.version, &other, &mut host.archive, &nothing).await;
        assert!(host.version == 0 || matches!(other_save, Err(StoreError::Mismatch { .. })), "{other_save:?}");
    }
    assert!(epochs > 50 && late_undos > 10, "{epochs} {late_undos}");
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
        files.extend(of_format.into_iter().take(2));
    }
    files
}

pub(crate) async fn recorded_sessions_come_back(store: Store) {
    let tenant = Tenant::default();
    let engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
    let (mut sessions, mut items) = (0, 0);
    for file in recorded() {
        let Ok(loaded) = read(std::fs::read(&file).unwrap(), ReadOptions::default()) else { continue };
        for found in loaded.sessions.iter().take(2) {
            let what = format!("{} {}", file.display(), found.name);
            let (mut session, mut archive) = (found.session.clone(), SessionArchive::new());
            let id = format!("recorded {sessions}");
            session.id = Some(id.as_str().into());
            let about = SessionMetadata::default();
            let created = store.create_session(&tenant, &id, &about, &session, &mut archive).await;
            let mut version = created.unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut ledger = engine.ledger(&session);
            let request = Request { chain: Some(Chain(Vec::new())), ..Request::to_budget(ledger.total() / 3) };
            let before = Checkpoint::new(&session);
            engine.compact(&mut session, &mut ledger, &mut archive, &request).await.unwrap();
            version = store.save(&tenant, &id, version, &session, &mut archive, &before).await.unwrap();
            let stored = store.session(&tenant, &id).await.unwrap();
            assert_same(&stored, &session, &archive, &what);
            assert_eq!(stored.version, version);
            items += archive.len();
            sessions += 1;
        }
    }
    tell(&format!("{sessions} recorded sessions stored and loaded; {items} archived items"));
    assert!(sessions == 0 || items > 0);
}

pub(crate) async fn a_wrong_version_changes_nothing(store: Store) {
    let tenant = Tenant::default();
    let mut host = Host::new(&store, "s", 5).await;
    host.play(5, 4, |_| {}).await;
    let info = store.session_info(&tenant, "s").await.unwrap();
    for wrong in [0, info.version - 1, info.version + 1, u64::MAX] {
        let check = |what: &str, result: Result<u64, StoreError>| match result {
            Err(StoreError::Conflict { expected, actual, .. }) => {
                assert_eq!((expected, actual), (wrong, info.version), "{what}");
            }
            other => panic!("{what} at {wrong} of {}: {other:?}", info.version),
        };
        let mut other = Host::load(&store, "s", 6).await;
        other.is_lazy = true;
        other.push(vec![Message::text("new", Role::User, Origin::Typed, "Good morning!")]).await;
        check("a message", other.try_save(wrong).await);
        while !other.compact_in_memory().await {}
        let pending = other.archive.pending();
        check("a compaction", other.try_save(wrong).await);
        assert_eq!(other.archive.pending(), pending, "what is pending stays so");
        other.reload().await;
        other.session.tools = Some("[]".into());
        check("tools", other.try_save(wrong).await);
        other.reload().await;
        if other.undo().await {
            check("an undo", other.try_save(wrong).await);
        }
    }
    assert_eq!(store.session_info(&tenant, "s").await.unwrap(), info);
    host.assert_stored("after conflicts").await;
    let mut other = Host::load(&store, "s", 6).await;
    while !other.compact_in_memory().await {}
    assert_eq!(other.try_save(info.version).await.unwrap(), info.version + 1, "at the right version it is made");

    other.id = "gone".to_owned();
    other.session.push(Message::text("new", Role::User, Origin::Typed, "Good morning!"));
    let gone = other.try_save(0).await;
    assert!(matches!(gone, Err(StoreError::NotFound { of: "session", .. })), "{gone:?}");
}

pub(crate) async fn what_does_not_fit_changes_nothing(store: Store) {
    let tenant = Tenant::default();
    let mut host = Host::new(&store, "s", 9).await;
    host.play(9, 6, |_| {}).await;
    let check = |what: &str, result: Result<u64, StoreError>| {
        assert!(matches!(result, Err(StoreError::Mismatch { .. })), "{what}: {result:?}");
    };
    let before = Checkpoint::new(&host.session);
    let mut other = Host::load(&store, "s", 9).await;
    other.push(vec![Message::text("theirs", Role::User, Origin::Typed, "one")]).await;
    host.session.push(Message::text("ours", Role::User, Origin::Typed, "two"));
    check("a log without their message", host.try_save(other.version).await);
    host.reload().await;
    let saved = store.save(&tenant, "s", host.version, &host.session, &mut host.archive, &before).await;
    check("an earlier state", saved);
    host.assert_stored("nothing was changed").await;
    while !host.undo().await {
        host.play(3, 1, |_| {}).await;
    }
    let undone: Vec<bool> = host.session.journal().iter().map(|epoch| epoch.undone).collect();
    let mut redone = Session::new();
    redone.extend(host.session.log().iter().map(|message| Message::clone(message)));
    for epoch in host.session.journal() {
        redone.commit(Epoch { undone: false, ..epoch.clone() });
    }
    let before = Checkpoint::new(&redone);
    assert!(undone.contains(&true) && redone.next_epoch() == host.session.next_epoch());
    let saved = store.save(&tenant, "s", host.version, &host.session, &mut host.archive, &before).await;
    check("an undo that is made already", saved);
    host.assert_stored("at the end").await;

    // As long as the stored session, and another one.
    let mut short = Host::new(&store, "short", 1).await;
    short.push(vec![Message::text("taken", Role::User, Origin::Typed, "one")]).await;
    let mut stranger = Session::new();
    stranger.push(Message::text("other", Role::User, Origin::Typed, "one"));
    let before = Checkpoint::new(&stranger);
    stranger.push(Message::text("taken", Role::User, Origin::Typed, "two"));
    let saved = store.save(&tenant, "short", short.version, &stranger, &mut short.archive, &before).await;
    check("an id that is taken", saved);
    short.assert_stored("nothing was changed").await;
}
