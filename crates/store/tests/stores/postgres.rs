//! What is special to PostgreSQL.

use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use epitome_session::{Message, MessageId, Origin, Role};
use epitome_store::{Memory, MemoryKind, PostgresSettings, Scope, Store, StoreError, Tenant};
use futures_util::future::{FutureExt, poll_immediate};
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;

use crate::host::Host;
use crate::killed::{self, Place, Started, TURNS};
use crate::tell;

/// Starts a server of its own in a folder, tells that it is ready, and waits until this program ends, however it does:
/// then its standard input ends. PostgreSQL refuses to be run by root.
const SERVER: &str = r#"
folder=$1 programs=$2
trap '' INT
as_user() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
finish() { rm -rf "$folder"; exit 1; }
cd "$folder" || exit 1
if [ "$(id -u)" = 0 ]; then chown postgres "$folder" || finish; fi
as_user "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
    >"$folder.log" 2>&1 || finish
as_user "$programs/pg_ctl" -D "$folder/data" -w -l "$folder/server.log" \
    -o "-k $folder -c listen_addresses= -c fsync=off -c max_connections=300" start >>"$folder.log" 2>&1 || finish
rm -f "$folder.log"
echo ready
read -r _
as_user "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1
finish
"#;

/// A server that ends with this program.
struct Server {
    url: String,
    _shell: Child,
}

static SERVER_OF_ALL: OnceLock<Option<Server>> = OnceLock::new();

/// Where the server's programs are.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let installed = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> =
        installed.chain(std::env::split_paths(&path)).filter(|folder| folder.join("initdb").exists()).collect();
    found.sort();
    found.pop()
}

/// The address of the server; `None`, and said so, where there is none to be had.
pub(crate) fn url() -> Option<&'static str> {
    let server = SERVER_OF_ALL.get_or_init(|| {
        let Some(programs) = programs() else {
            tell("NOT RUN on PostgreSQL: its server is not installed (initdb is not there)");
            return None;
        };
        Some(start(&programs))
    });
    server.as_ref().map(|server| server.url.as_str())
}

fn start(programs: &Path) -> Server {
    let folder = tempfile::tempdir().unwrap().keep();
    let mut shell = Command::new("sh")
        .args(["-c", SERVER, "sh"])
        .args([&folder, programs])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let host = folder.to_str().unwrap().replace('/', "%2F");
    assert_eq!(said, "ready\n", "the server did not start: see {}.log", folder.display());
    Server { url: format!("postgres://postgres@{host}/postgres"), _shell: shell }
}

/// A schema that no test had before.
pub(crate) fn settings() -> Option<PostgresSettings> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let schema = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    Some(PostgresSettings { schema, ..PostgresSettings::new(url()?) })
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap()).block_on(future)
}

pub(crate) async fn open(settings: &PostgresSettings) -> Store {
    Store::postgres(settings).await.unwrap()
}

/// Runs a case over a new schema.
pub(crate) fn run(case: impl AsyncFn(Store)) {
    let Some(settings) = settings() else { return };
    block_on(async { case(open(&settings).await).await });
}

fn place() -> Option<Place> {
    let settings = settings()?;
    Some(Place::Postgres { schema: settings.schema, url: settings.url })
}

#[test]
fn a_killed_host_leaves_what_it_stored() {
    if url().is_some() {
        killed::a_killed_host_leaves_what_it_stored(|_| place().unwrap());
    }
}

/// Several processes work on one session, each while it holds the lock: none is ever told of a conflict, and every
/// message is there once.
#[test]
fn processes_share_a_session() {
    let Some(place) = place() else { return };
    let store = block_on(place.open());
    block_on(Host::new(&store, "s", 0));
    let seeds = [1, 2, 3];
    let hosts = seeds.map(|seed| Started::new("sharing", &place, seed));
    for host in hosts {
        assert_eq!(host.finish().len(), TURNS);
    }
    let host = block_on(Host::load(&store, "s", 0));
    let log = host.session.log();
    assert_eq!(log.len(), seeds.len() * TURNS * 3);
    let mut switches = 0;
    for seed in seeds {
        let of_seed = log.iter().filter(|message| message.id.as_str().starts_with(&format!("{seed}-")));
        let expected = (0..TURNS).flat_map(|turn| (0..3).map(move |part| format!("{seed}-{turn}-{part}")));
        assert!(of_seed.map(|message| message.id.to_string()).eq(expected), "once each, in their order");
        switches += log.windows(2).filter(|two| two[0].id.as_str()[..1] != two[1].id.as_str()[..1]).count();
    }
    let journal = host.session.journal();
    assert!(journal.len() > TURNS / 2, "{} compactions", journal.len());
    let stored = host.session.log().len() + journal.len() + journal.iter().filter(|epoch| epoch.undone).count();
    assert_eq!(host.version as usize, stored, "every change is there");
    tell(&format!("{} compactions by three processes that took turns {} times", journal.len(), switches / seeds.len()));
}

/// Without the lock, of two who change the same version one is told that it came too late, and nothing is lost either.
#[test]
fn instances_without_the_lock_get_conflicts() {
    let Some(settings) = settings() else { return };
    block_on(async {
        let (one, other) = (open(&settings).await, open(&settings).await);
        let mut host = Host::new(&one, "s", 0).await;
        for number in 0..40 {
            let (mut here, mut there) = (Host::load(&one, "s", 0).await, Host::load(&other, "s", 0).await);
            let message = |name: &str| Message::text(format!("{name}{number}"), Role::User, Origin::Typed, "one");
            here.session.push(message("here"));
            there.session.push(message("there"));
            let (here, there) = futures_util::future::join(here.try_save(number), there.try_save(number)).await;
            let late = match (here, there) {
                (Ok(version), Err(late)) | (Err(late), Ok(version)) if version == number + 1 => late,
                other => panic!("{other:?}"),
            };
            assert!(matches!(late, StoreError::Conflict { expected, .. } if expected == number), "{late:?}");
        }
        host.reload().await;
        assert_eq!((host.session.log().len(), host.version), (40, 40));
    });
}

/// Two who store the same in opposite orders wait for each other; the database gives one of them up, and it tries again.
#[test]
fn changes_that_cross_are_both_made() {
    let Some(settings) = settings() else { return };
    let memory = |number: usize| Memory {
        text: format!("thing {number} is known"),
        kind: MemoryKind::Fact,
        session: None,
        message: MessageId::new("m"),
        time: None,
    };
    let there: Vec<Memory> = (0..300).map(memory).collect();
    let back: Vec<Memory> = there.iter().rev().cloned().collect();
    block_on(async {
        let (one, other) = (open(&settings).await, open(&settings).await);
        let tenant = Tenant::default();
        let (new, also) =
            futures_util::future::join(one.remember(&tenant, &there), other.remember(&tenant, &back)).await;
        assert_eq!(new.unwrap() + also.unwrap(), there.len(), "each is new once");
        assert_eq!(one.recent_memories(&tenant, &Scope::All, 999).await.unwrap().len(), there.len());
    });
}

#[test]
fn the_lock_of_a_killed_process_is_free() {
    let Some(place) = place() else { return };
    block_on(async {
        let store = place.open().await;
        let tenant = Tenant::default();
        for seed in 0..3 {
            let mut holder = Started::new("holding", &place, seed);
            while holder.said.is_empty() && holder.next() {}
            let mut waiting = store.lock(&tenant, "s").boxed();
            assert!(poll_immediate(&mut waiting).await.is_none(), "the other process has it");
            // Another session's is free, so it is not that the database does not answer.
            for _ in 0..20 {
                store.lock(&tenant, "other").await.unwrap().release().await;
                assert!(poll_immediate(&mut waiting).await.is_none(), "the other process still has it");
            }
            holder.kill();
            waiting.await.unwrap().release().await;
        }
    });
}

/// Whoever stops waiting for a lock must not get it when it is free.
#[test]
fn a_lock_that_nobody_waits_for_is_free() {
    let Some(settings) = settings() else { return };
    block_on(async {
        let tenant = Tenant::default();
        let (one, other) = (open(&settings).await, open(&settings).await);
        for _ in 0..5 {
            let held = one.lock(&tenant, "s").await.unwrap();
            let mut waiting = other.lock(&tenant, "s").boxed();
            for _ in 0..3 {
                assert!(poll_immediate(&mut waiting).await.is_none());
                other.lock(&tenant, "a").await.unwrap().release().await;
            }
            drop(waiting);
            held.release().await;
            one.lock(&tenant, "s").await.unwrap().release().await;
            drop(other.lock(&tenant, "s").await.unwrap());
        }
    });
}

/// A connection that looks on. Those of the stores that `settings` opens have the schema's name.
async fn onlooker(settings: &mut PostgresSettings) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&settings.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    settings.url = format!("{}?application_name={}", settings.url, settings.schema);
    client
}

/// Locks take no connections, and nothing from those that statements go through.
#[test]
fn one_instance_locks_many_sessions() {
    let Some(mut settings) = settings() else { return };
    settings.connections = 1;
    block_on(async {
        let onlooker = onlooker(&mut settings).await;
        let (one, other) = (open(&settings).await, open(&settings).await);
        let tenant = Tenant::default();
        let ids: Vec<String> = (0..100).map(|number| format!("s{number}")).collect();
        let held = futures_util::future::join_all(ids.iter().map(|id| one.lock(&tenant, id))).await;
        let held: Vec<_> = held.into_iter().map(Result::unwrap).collect();
        Host::new(&one, "s0", 0).await;
        assert_eq!(one.session_info(&tenant, "s0").await.unwrap().version, 0, "statements have their connection");
        other.lock(&tenant, "another").await.unwrap().release().await;
        let mut waiting: Vec<_> = ids.iter().map(|id| Box::pin(other.lock(&tenant, id))).collect();
        for _ in 0..3 {
            for waiting in &mut waiting {
                assert!(poll_immediate(waiting).await.is_none(), "it is held");
            }
            other.lock(&tenant, "another").await.unwrap().release().await;
        }
        let count = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = $1";
        let connections: i64 = onlooker.query_one(count, &[&settings.schema]).await.unwrap().get(0);
        assert_eq!(connections, 4, "each store has one for statements and one for locks");
        for lock in held {
            lock.release().await;
        }
        for waiting in waiting {
            waiting.await.unwrap().release().await;
        }
    });
}

/// Somebody who works on a session without end lets others have it in between, soon.
#[test]
fn who_wants_a_lock_again_lets_others_have_it() {
    const TIMES: usize = 10;
    let Some(settings) = settings() else { return };
    block_on(async {
        let tenant = Tenant::default();
        let (one, other) = (open(&settings).await, open(&settings).await);
        let (rounds, waited) = (Cell::new(0), Cell::new(0));
        let pause = || tokio::time::sleep(Duration::from_millis(5));
        let busy = async {
            loop {
                let lock = one.lock(&tenant, "s").await.unwrap();
                pause().await;
                lock.release().await;
                rounds.set(rounds.get() + 1);
            }
        };
        let now_and_then = async {
            for _ in 0..TIMES {
                pause().await;
                let before = rounds.get();
                let lock = other.lock(&tenant, "s").await.unwrap();
                waited.set(waited.get() + rounds.get() - before);
                lock.release().await;
            }
        };
        futures_util::future::select(busy.boxed_local(), now_and_then.boxed_local()).await;
        let waited = waited.get();
        tell(&format!("{waited} rounds of one instance while another waited {TIMES} times"));
        assert!(waited <= 3 * TIMES, "the other one waited {TIMES} times, for {waited} rounds");
    });
}

/// The end of the connection is the end of its locks. They can be had again, and giving back an old one takes nothing from
/// whoever has it now.
#[test]
fn locks_outlive_their_connection_for_others() {
    let Some(mut settings) = settings() else { return };
    block_on(async {
        let onlooker = onlooker(&mut settings).await;
        let (one, other) = (open(&settings).await, open(&settings).await);
        let tenant = Tenant::default();
        for is_dropped in [true, false] {
            let lost = one.lock(&tenant, "s").await.unwrap();
            let kept = other.lock(&tenant, "t").await.unwrap();
            // A connection may have a gate, too, for a moment.
            let end = "SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT l.pid FROM pg_locks l \
                JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND a.application_name = $1) held";
            assert_eq!(onlooker.execute(end, &[&settings.schema]).await.unwrap(), 2);
            let taken = other.lock(&tenant, "s").await.unwrap();
            // On the connection that follows.
            one.lock(&tenant, "u").await.unwrap().release().await;
            if is_dropped {
                drop(lost)
            } else {
                lost.release().await
            }
            let mut waiting = one.lock(&tenant, "s").boxed();
            for _ in 0..3 {
                assert!(poll_immediate(&mut waiting).await.is_none(), "the other one has it");
                one.lock(&tenant, "u").await.unwrap().release().await;
            }
            taken.release().await;
            waiting.await.unwrap().release().await;
            kept.release().await;
        }
    });
}

#[test]
fn a_database_of_a_later_version_is_refused() {
    let Some(settings) = settings() else { return };
    block_on(async {
        let existing = Store::postgres_existing(&settings).await;
        assert!(matches!(&existing, Err(StoreError::NoStore { at }) if at.contains(&settings.schema)), "{existing:?}");
        // Instances that start together make the tables once.
        let stores = futures_util::future::join_all((0..6).map(|_| open(&settings))).await;
        assert_eq!(stores[0].health().await.unwrap().schema, 3);
        assert_eq!(Store::postgres_existing(&settings).await.unwrap().health().await.unwrap().schema, 3);
        let (client, connection) = tokio_postgres::connect(&settings.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let update = format!("UPDATE {}.epitome_schema SET version = 99", settings.schema);
        assert_eq!(client.execute(&update, &[]).await.unwrap(), 1, "it says its version once");
        let refused = Store::postgres(&settings).await.unwrap_err();
        assert!(matches!(refused, StoreError::NewerDatabase { version: 99, .. }), "{refused:?}");
        let refused = Store::postgres_existing(&settings).await.unwrap_err();
        assert!(matches!(refused, StoreError::NewerDatabase { version: 99, .. }), "{refused:?}");
        let address = "postgres://me:hush@127.0.0.1:1/nowhere";
        let nowhere = Store::open(address).await.unwrap_err();
        let shown = format!("{nowhere} {nowhere:?} {:?}", PostgresSettings::new(address));
        assert!(matches!(nowhere, StoreError::Database { .. }) && !shown.contains("hush"), "{shown}");
        for schema in ["", "a b", "a;DROP", "Ä"] {
            let odd = PostgresSettings { schema: schema.to_owned(), ..settings.clone() };
            assert!(matches!(Store::postgres(&odd).await, Err(StoreError::Name { .. })), "{schema}");
        }
    });
}

/// What anybody may ask the tables.
#[test]
fn tables_tell_what_was_compacted() {
    let Some(settings) = settings() else { return };
    block_on(async {
        let store = open(&settings).await;
        let mut host = Host::new(&store, "s", 4).await;
        for round in 0..4 {
            host.play(80 + round, 2, |_| {}).await;
            host.summarize(format!("summary {round}")).await;
        }
        let (client, connection) = tokio_postgres::connect(&settings.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&format!("SET search_path TO {}", settings.schema)).await.unwrap();
        let count = async |sql: &str| client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) as usize;
        let in_view = "SELECT COUNT(*) FROM messages WHERE compacted_at IS NULL";
        assert_eq!(count(in_view).await, host.session.view().len());
        let into = "SELECT COUNT(*) FROM messages m JOIN messages s ON s.message = m.compacted_into WHERE s.is_summary";
        assert!(count(into).await > 5);
        let roles = "SELECT COUNT(*) FROM messages WHERE body::json->>'role' != role";
        assert_eq!(count(roles).await, 0, "bodies are JSON");
        assert!(store.delete_session(&host.tenant, "s").await.unwrap());
        for table in ["sessions", "messages", "epochs", "archive"] {
            assert_eq!(count(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
        }
    });
}
