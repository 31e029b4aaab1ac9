//! What is special to SQLite.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use epitome_engine::block_on;
use epitome_session::{Message, MessageId, Origin, Role, Session};
use epitome_store::{
    Checkpoint, SessionArchive, SessionMetadata, SqliteSettings, Store, StoreError, StoredSession, Tenant,
};
use rusqlite::Connection;

use crate::host::Host;
use crate::killed::{self, Place};
use crate::tell;

#[cfg(unix)]
#[test]
fn a_new_database_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    let store = open(&folder.path().join("new.db"));
    let created = block_on(store.create_session(
        &Tenant::default(),
        "s",
        &SessionMetadata::default(),
        &Session::new(),
        &mut SessionArchive::new(),
    ));
    created.unwrap();
    assert_eq!(["new.db", "new.db-wal", "new.db-shm"].map(mode), [0o600; 3]);
    // What is there keeps the mode that somebody gave it.
    drop(store);
    std::fs::set_permissions(folder.path().join("new.db"), PermissionsExt::from_mode(0o640)).unwrap();
    drop(open(&folder.path().join("new.db")));
    assert_eq!(mode("new.db"), 0o640);
}

/// Whoever shares it: an open file would keep its changes beside it.
#[test]
fn a_closed_store_has_closed_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = open(&path);
    let shared = store.clone();
    block_on(shared.health()).unwrap();
    assert!(folder.path().join("s.db-wal").exists());
    store.close();
    store.close();
    assert!(!folder.path().join("s.db-wal").exists());
    assert!(matches!(block_on(shared.health()), Err(StoreError::Closed)));
    block_on(open(&path).health()).unwrap();
}

pub(crate) fn open(path: &Path) -> Store {
    Store::sqlite(&SqliteSettings::new(path)).unwrap()
}

/// Runs a case over a new file, and over memory. Without any asynchronous runtime.
pub(crate) fn run(case: impl AsyncFn(Store)) {
    let folder = tempfile::tempdir().unwrap();
    block_on(case(open(&folder.path().join("epitome.db"))));
    block_on(case(Store::sqlite_in_memory().unwrap()));
}

/// A task of tokio has a budget of waits, which only its own scheduler fills again.
#[test]
fn a_task_may_wait_through_another_executor_as_often_as_it_likes() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (sender, receiver) = mpsc::channel();
    runtime.spawn(async move {
        let store = Store::sqlite_in_memory().unwrap();
        for _ in 0..500 {
            block_on(store.health()).unwrap();
            let lock = block_on(store.lock(&Tenant::default(), "s")).unwrap();
            block_on(lock.release());
        }
        sender.send(()).unwrap();
    });
    let is_done = receiver.recv_timeout(Duration::from_secs(60)).is_ok();
    runtime.shutdown_background();
    assert!(is_done, "the task waits for ever");
}

/// What anybody may ask the tables.
#[test]
fn tables_tell_what_was_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.db");
    let store = open(&path);
    let mut host = block_on(Host::new(&store, "s", 4));
    block_on(async {
        for round in 0..4 {
            host.play(80 + round, 2, |_| {}).await;
            host.summarize(format!("summary {round}")).await;
        }
    });
    let tables = Connection::open(&path).unwrap();
    let count = |sql: &str| tables.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() as usize;
    let session = &host.session;
    assert_eq!(count("SELECT COUNT(*) FROM messages WHERE number IS NOT NULL"), session.log().len());
    let in_view = "SELECT COUNT(*) FROM messages WHERE compacted_at IS NULL";
    assert_eq!(count(in_view), session.view().len());
    let summaries = session.view().iter().filter(|entry| entry.message.origin == Origin::Summary).count();
    assert_eq!(count(&format!("{in_view} AND is_summary")), summaries);
    assert_eq!(count("SELECT COUNT(*) FROM archive"), host.archive.len() - host.archive.pending());
    let into = "SELECT COUNT(*) FROM messages m JOIN messages s ON s.message = m.compacted_into WHERE s.is_summary";
    assert!(count(into) > 5);
    assert_eq!(count("SELECT COUNT(*) FROM messages WHERE json_extract(body, '$.id') != message"), 0);
    while block_on(host.undo()) {}
    assert_eq!(count(in_view), session_length(&host.session), "everything undone, everything is back");
    assert_eq!(count("SELECT COUNT(*) FROM messages WHERE is_summary"), 0);
    assert!(block_on(store.delete_session(&host.tenant, "s")).unwrap());
    for table in ["sessions", "messages", "epochs", "archive"] {
        assert_eq!(count(&format!("SELECT COUNT(*) FROM {table}")), 0, "{table}");
    }
}

/// An answer of the engine's that left the view without an epoch's saying so is marked: after messages, compactions and undos, and
/// where a session is stored whole or saved.
#[test]
fn tables_tell_which_answers_were_superseded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.db");
    let store = open(&path);
    let tables = Connection::open(&path).unwrap();
    let check = |id: &str, session: &Session| {
        let in_view = "SELECT COUNT(*) FROM messages WHERE compacted_at IS NULL AND session = ?1";
        let count = tables.query_row(in_view, [id], |row| row.get::<_, i64>(0)).unwrap() as usize;
        let shown = session.view();
        assert_eq!(count, shown.len(), "{id}");
        let in_force = session.journal().iter().filter(|epoch| !epoch.undone);
        let answers = in_force.flat_map(|epoch| &epoch.synthetics).filter(|it| it.message.origin == Origin::Answer);
        let is_shown = |id: &MessageId| shown.iter().any(|entry| entry.message.id == *id);
        answers.filter(|answer| !is_shown(&answer.message.id)).count()
    };
    let mut superseded = 0;
    for seed in 0..12 {
        let mut host = block_on(Host::new(&store, &format!("s{seed}"), seed));
        for round in 0..3 {
            let id = host.id.clone();
            block_on(host.play(seed + 300 + round, 3, |host| superseded += check(&id, &host.session)));
            block_on(host.summarize(format!("summary {round}")));
            check(&host.id, &host.session);
        }
        let about = SessionMetadata::default();
        let create = |id: &str, session: &Session| {
            block_on(store.create_session(&host.tenant, id, &about, session, &mut SessionArchive::new())).unwrap()
        };
        let (copy, saved) = (format!("copy{seed}"), format!("saved{seed}"));
        create(&copy, &host.session);
        check(&copy, &host.session);
        let version = create(&saved, &Session::new());
        block_on(store.save(
            &host.tenant,
            &saved,
            version,
            &host.session,
            &mut SessionArchive::new(),
            &Checkpoint::default(),
        ))
        .unwrap();
        check(&saved, &host.session);
        while block_on(host.undo()) {
            check(&host.id, &host.session);
        }
    }
    assert!(superseded > 10, "{superseded}");
}

fn session_length(session: &Session) -> usize {
    assert!(session.journal().iter().all(|epoch| epoch.undone));
    session.log().len()
}

#[test]
fn a_database_of_a_later_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.db");
    drop(open(&path));
    let version =
        |set: u32| Connection::open(&path).unwrap().execute("UPDATE epitome_schema SET version = ?1", [set]).unwrap();
    version(99);
    let before = std::fs::read(&path).unwrap();
    let refused = Store::sqlite(&SqliteSettings::new(&path)).unwrap_err();
    assert!(matches!(refused, StoreError::NewerDatabase { version: 99, .. }), "{refused:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    version(2);
    drop(open(&path));

    let text = folder.path().join("text");
    std::fs::write(&text, "this is not a database, but somebody's text. ".repeat(50)).unwrap();
    let refused = Store::sqlite(&SqliteSettings::new(&text)).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Database { source, .. } if source.to_string().contains("text")),
        "{refused:?}"
    );
    assert!(std::fs::read(&text).unwrap().starts_with(b"this is"));
    let nowhere = Store::sqlite(&SqliteSettings::new(folder.path().join("no/folder.db"))).unwrap_err();
    assert!(matches!(nowhere, StoreError::Database { .. }));
    for address in ["", "sqlite:", "mysql://host", "postgres:secret"] {
        let refused = block_on(Store::open(address)).unwrap_err();
        assert!(matches!(refused, StoreError::Address) && !refused.to_string().contains("secret"), "{address}");
    }
    let address = format!("sqlite:{}", path.display());
    assert_eq!(block_on(block_on(Store::open(&address)).unwrap().health()).unwrap().backend, "sqlite");
}

#[test]
fn a_store_that_is_only_read_is_neither_made_nor_changed() {
    let folder = tempfile::tempdir().unwrap();
    let existing = |name: &str| {
        let address = format!("sqlite:{}", folder.path().join(name).display());
        block_on(Store::open_existing(&address))
    };
    let version = |name: &str, sql: &str| {
        let connection = rusqlite::Connection::open(folder.path().join(name)).unwrap();
        connection.execute_batch(sql).unwrap();
    };
    assert!(matches!(existing("none.db"), Err(StoreError::NoStore { at }) if at.contains("none.db")));
    assert!(!folder.path().join("none.db").exists(), "it is not made");
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    assert!(matches!(existing("folder"), Err(StoreError::NoStore { .. })));
    // Somebody else's database stays as it is.
    version("other.db", "CREATE TABLE notes (text TEXT)");
    let before = std::fs::read(folder.path().join("other.db")).unwrap();
    assert!(matches!(existing("other.db"), Err(StoreError::NoStore { .. })));
    assert!(std::fs::read(folder.path().join("other.db")).unwrap() == before);
    drop(open(&folder.path().join("epitome.db")));
    assert_eq!(block_on(existing("epitome.db").unwrap().health()).unwrap().schema, 2);
    version("epitome.db", "UPDATE epitome_schema SET version = 1");
    assert!(matches!(existing("epitome.db"), Err(StoreError::OlderDatabase { version: 1, known: 2 })));
    version("epitome.db", "UPDATE epitome_schema SET version = 99");
    assert!(matches!(existing("epitome.db"), Err(StoreError::NewerDatabase { version: 99, .. })));
    for (address, is_none) in [("sqlite::memory:", true), ("sqlite:", false), ("mysql://host", false)] {
        let refused = block_on(Store::open_existing(address)).unwrap_err();
        assert_eq!(matches!(refused, StoreError::NoStore { .. }), is_none, "{address}: {refused}");
    }
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.db");
    let settings = SqliteSettings { max_pages: Some(120), ..SqliteSettings::new(&path) };
    let store = Store::sqlite(&settings).unwrap();
    let (mut full, mut stored) = (0, 0);
    let mut host = block_on(Host::new(&store, "s", 8));
    block_on(host.play(8, 4, |_| {}));
    let expected = |host: &Host| (host.session.clone(), host.archive.clone(), host.version);
    // Fill it up, then try everything.
    for size in [60_000, 20_000, 6_000, 2_000, 500, 100] {
        loop {
            let (session, archive, version) = expected(&host);
            host.session.push(Message::text("", Role::User, Origin::Typed, "x".repeat(size)));
            match block_on(host.try_save(version)) {
                Ok(version) => {
                    (host.version, stored) = (version, stored + 1);
                }
                Err(StoreError::Full { .. }) => {
                    full += 1;
                    (host.session, host.archive, host.version) = (session, archive, version);
                    block_on(host.assert_stored("after an append"));
                    break;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert!(full == 6 && stored > 6, "{full} {stored}");
    let (session, version) = (host.session.clone(), host.version);
    while !block_on(host.compact_in_memory()) {}
    let committed = block_on(host.try_save(version));
    assert!(matches!(committed, Err(StoreError::Full { .. })), "{committed:?}");
    assert!(host.archive.pending() > 0);
    let here = block_on(store.session(&host.tenant, "s")).unwrap();
    assert_eq!((here.session.state_hash(), here.version), (session.state_hash(), version));
    // There is room again: the same commit is made.
    drop((host.store, store));
    let store = open(&path);
    host.store = store.clone();
    host.version = block_on(host.try_save(version)).unwrap();
    block_on(host.assert_stored("with more room"));
}

#[test]
fn no_secret_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.db");
    block_on(crate::cases::settings::agents_and_channels_are_kept_without_secrets(open(&path)));
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(4).any(|four| four == b"hush"));
    }
}

/// Several processes may use one file: versions keep them apart.
#[test]
fn two_stores_on_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.db");
    let (one, other) = (open(&path), open(&path));
    let tenant = Tenant::default();
    block_on(one.create_session(
        &tenant,
        "s",
        &SessionMetadata::default(),
        &Session::new(),
        &mut SessionArchive::new(),
    ))
    .unwrap();
    let add = |store: Store, name: &'static str| {
        let tenant = tenant.clone();
        std::thread::spawn(move || {
            let mut conflicts = 0;
            for number in 0..40 {
                loop {
                    let StoredSession { mut session, mut archive, version, .. } =
                        block_on(store.session(&tenant, "s")).unwrap();
                    let before = Checkpoint::new(&session);
                    session.push(Message::text(format!("{name}{number}"), Role::User, Origin::Typed, "one"));
                    match block_on(store.save(&tenant, "s", version, &session, &mut archive, &before)) {
                        Ok(_) => break,
                        Err(StoreError::Conflict { .. }) => conflicts += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
            conflicts
        })
    };
    let threads = [add(one.clone(), "one"), add(other, "other")];
    let conflicts: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    let stored = block_on(one.session(&tenant, "s")).unwrap();
    assert_eq!((stored.session.log().len(), stored.version), (80, 80));
    tell(&format!("{conflicts} conflicts between two stores on one file"));
}

#[test]
fn a_killed_host_leaves_what_it_stored() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| Place::Sqlite(folder.path().join(format!("{name}.db")));
    killed::a_killed_host_leaves_what_it_stored(place);
}
