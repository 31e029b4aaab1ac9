//! A store in an SQL database: one text of SQL for all databases, each of which only runs it.

mod database;
#[cfg(feature = "postgres")]
mod exchange;
mod memories;
mod migrations;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod reserve;
mod service_keys;
mod sessions;
mod settings;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statement;
mod views;
mod writes;

use std::fmt::Debug;
use std::process;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::task::unconstrained;

use crate::data::Health;
use crate::error::StoreError;
use crate::lock::{CompactionMark, LocalLocks, SessionLock};
use crate::tenant::{Tenant, check_name};

use database::{Access, Attempted, Database, Failure};
#[cfg(feature = "postgres")]
pub use exchange::{EventFeed, EventPage, Exchange, FeedEvent, Grant, OutgoingEvent};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresSettings, Wakeups};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSettings;
use statement::{Outcome, Reader, Statement};

/// Keeps the sessions, memories, agents and channels of several tenants.
///
/// Sessions change only by the calls that take an `expected` version: when the session has another, they change
/// nothing and answer [`StoreError::Conflict`], and the host loads the session again. Each is done whole or not at all,
/// whatever happens to the process. They return the new version.
///
/// A host changes its session in memory, and lets the store find what is new since a [`Checkpoint`](crate::Checkpoint)
/// ([`save`](Self::save)). After an error it loads the session again, unless it has kept a copy from before.
///
/// Futures may be dropped at any time; a change that was begun is then made or not. Cloning a store is sharing it.
///
/// The data is kept in an SQL database: embedded SQLite, or PostgreSQL. The tables are those of `migrations/`, and may
/// be queried from outside: times are milliseconds since 1970-01-01 UTC, and columns with JSON are called `body` or
/// `settings`. Names of messages longer than 256 bytes are shortened there.
///
#[cfg_attr(feature = "sqlite", doc = "```")]
#[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
/// use epitome_session::{Message, Origin, Role, Session};
/// use epitome_store::{Checkpoint, SessionArchive, SessionMetadata, Slice, Store, StoreError, Tenant, ViewKind};
///
/// # async fn keep() -> Result<(), StoreError> {
/// let store = Store::open("sqlite::memory:").await?; // or postgres://…, with that feature
/// let (tenant, about) = (Tenant::default(), SessionMetadata::default());
/// let (mut session, mut archive) = (Session::new(), SessionArchive::new());
/// let mut version = store.create_session(&tenant, "first", &about, &session, &mut archive).await?;
///
/// let lock = store.lock(&tenant, "first").await?; // for others who work on the session
/// let before = Checkpoint::new(&session);
/// session.push(Message::text("", Role::User, Origin::Typed, "Good morning!")); // and compactions with this archive
/// version = store.save(&tenant, "first", version, &session, &mut archive, &before).await?;
/// lock.release().await;
///
/// let stored = store.session(&tenant, "first").await?;
/// assert_eq!((stored.session.state_hash(), stored.version), (session.state_hash(), version));
/// let view = store.view(&tenant, "first", ViewKind::Compacted, Slice { from: 0, most: 50 }).await?;
/// assert_eq!(view.total, 1);
/// # Ok(())
/// # }
/// # epitome_engine::block_on(keep()).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    database: Arc<dyn Database>,
    local_locks: LocalLocks,
    /// The process that opened it.
    process: u32,
}

impl Store {
    /// The store at an address: `sqlite:PATH`, which is made where it does not exist, `sqlite::memory:`, or
    /// `postgres://user@host/database`, with the settings as they are by default. Changes the tables where they are
    /// those of an earlier version.
    pub async fn open(address: &str) -> Result<Self, StoreError> {
        match read_address(address)? {
            #[cfg(feature = "sqlite")]
            Address::Memory => Self::sqlite_in_memory(),
            #[cfg(feature = "sqlite")]
            Address::Sqlite(settings) => Self::sqlite(&settings),
            #[cfg(feature = "postgres")]
            Address::Postgres(settings) => Self::postgres(&settings).await,
        }
    }

    /// The store at an address, as [`open`](Self::open) takes it, for readers: no file is made, and no table is
    /// changed. A store in memory ends with its process, so an address in memory is always an error.
    ///
    /// Errors where the store does not exist, or where its tables are those of an earlier or a later version.
    pub async fn open_existing(address: &str) -> Result<Self, StoreError> {
        match read_address(address)? {
            #[cfg(feature = "sqlite")]
            Address::Memory => Err(StoreError::NoStore { at: "in memory".to_owned() }),
            #[cfg(feature = "sqlite")]
            Address::Sqlite(settings) => Self::sqlite_existing(&settings),
            #[cfg(feature = "postgres")]
            Address::Postgres(settings) => Self::postgres_existing(&settings).await,
        }
    }

    fn over(database: impl Database + 'static) -> Self {
        Self { database: Arc::new(database), local_locks: LocalLocks::default(), process: process::id() }
    }

    /// Closes the store for all who share it: later calls are a [`StoreError::Closed`]. With SQLite it blocks until what was
    /// begun is done, and the file is closed when it returns. Without it, a store is closed when the last one who shares it
    /// drops it.
    pub fn close(&self) {
        if self.process == process::id() {
            self.database.close();
        }
    }

    /// An error in a process that was forked off the one that opened the store: its threads and connections are not there.
    fn check_process(&self) -> Result<(), StoreError> {
        if self.process == process::id() { Ok(()) } else { Err(StoreError::Forked) }
    }

    /// Runs statements. The wait is not of the budget of a tokio task: one that waits here through another executor would
    /// never get a new one.
    async fn run(&self, access: Access, statements: Vec<Statement>) -> Result<Vec<Outcome>, Failure> {
        self.check_process().map_err(Failure::Error)?;
        unconstrained(self.database.run(access, statements)).await
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StoreError> {
        self.run(Access::Read, statements).await.map_err(Failure::into_error)
    }

    async fn read_one(&self, statement: Statement) -> Result<Outcome, StoreError> {
        Ok(self.read(vec![statement]).await?.pop().unwrap_or_default())
    }

    /// The rows of an answer, each as `read` reads it.
    async fn read_all<T>(
        &self,
        statement: Statement,
        read: impl Fn(&mut Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.read_one(statement).await?.rows.iter().map(|row| read(&mut row.read())).collect()
    }

    /// The answer to a query about a session; an error where the session does not exist.
    async fn read_of_session(&self, tenant: &Tenant, id: &str, sql: &'static str) -> Result<Outcome, StoreError> {
        let version = Statement::for_row("SELECT version FROM sessions WHERE tenant = ?1 AND id = ?2", tenant, id);
        let mut outcomes = self.read(vec![version, Statement::for_row(sql, tenant, id)]).await?;
        let outcome = outcomes.pop().unwrap_or_default();
        match outcomes.first().is_some_and(|session| !session.rows.is_empty()) {
            true => Ok(outcome),
            false => Err(not_found(id)),
        }
    }

    /// Runs statements that change something, and says how many rows each changed.
    async fn write(&self, statements: Vec<Statement>) -> Result<Vec<u64>, StoreError> {
        let outcomes = self.run(Access::Write, statements).await.map_err(Failure::into_error)?;
        Ok(outcomes.into_iter().map(|outcome| outcome.changed).collect())
    }

    /// Deletes, also where the store is full.
    async fn delete(&self, statements: Vec<Statement>) -> Result<Vec<u64>, StoreError> {
        let outcomes = self.run(Access::Delete, statements).await.map_err(Failure::into_error)?;
        Ok(outcomes.into_iter().map(|outcome| outcome.changed).collect())
    }

    async fn write_one(&self, statement: Statement) -> Result<u64, StoreError> {
        Ok(self.write(vec![statement]).await?.pop().unwrap_or_default())
    }

    /// Waits until the session's lock is free, and takes it. The lock is advisory: it separates only callers that ask
    /// for it. Waiters of one process get it in the order in which they came.
    ///
    /// In SQLite it is one of this process; other processes on the same file are kept from harm by the versions alone. In
    /// PostgreSQL it is one of all instances.
    pub async fn lock(&self, tenant: &Tenant, id: &str) -> Result<SessionLock, StoreError> {
        check_name("session", id)?;
        self.check_process()?;
        // Names hold no control characters: no two pairs give the same text.
        let name = format!("{tenant}\n{id}");
        // First the turn in this process, so that of all who wait here only one waits at the database.
        let turn = self.local_locks.wait(Arc::from(name.as_str())).await;
        let elsewhere = unconstrained(self.database.lock(&name)).await?;
        Ok(SessionLock::new(turn, elsewhere))
    }

    /// Marks that a compaction of the session is under way, for all instances to see: `None` where another instance has
    /// marked it. Does not wait, and needs no lock of the session. It tells instances apart, not callers of one of them.
    ///
    /// In SQLite the mark is seen by nobody else. In PostgreSQL it ends when the value is dropped, and with the connection
    /// that holds it, as a [`SessionLock`] does.
    pub async fn mark_compaction(&self, tenant: &Tenant, id: &str) -> Result<Option<CompactionMark>, StoreError> {
        check_name("session", id)?;
        self.check_process()?;
        match unconstrained(self.database.try_lock(&mark_name(tenant, id))).await? {
            Attempted::Unknown => Ok(Some(CompactionMark::new(None))),
            Attempted::Refused => Ok(None),
            Attempted::Held(lock) => Ok(Some(CompactionMark::new(Some(lock)))),
        }
    }

    /// Whether an instance, this one included, has marked that a compaction of the session is under way. Costs one query in
    /// PostgreSQL, and nothing in SQLite, where it is always false.
    pub async fn is_marked(&self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        self.check_process()?;
        unconstrained(self.database.is_locked(&mark_name(tenant, id))).await
    }

    /// Whether something can be stored: stores and deletes a row at once, which nobody sees. Errors where it cannot,
    /// [`StoreError::Full`] where there is no room.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        // No tenant has such a name.
        const NOBODY: &str = "\u{1}";
        // A session of some hundred messages: where there is less, most of what comes would fail.
        const ROOM: usize = 1 << 20;
        let insert = "INSERT INTO channels (tenant, name, settings, updated_at) VALUES (?1, ?2, ?3, ?4)";
        let insert = Statement::new(insert).with(NOBODY).with(NOBODY).with(format!("\"{}\"", " ".repeat(ROOM)));
        let delete = Statement::new("DELETE FROM channels WHERE tenant = ?1").with(NOBODY);
        self.write(vec![insert.with(now()), delete]).await.map(drop)
    }

    /// Asks the database something that it must answer at once. Errors where it does not.
    pub async fn health(&self) -> Result<Health, StoreError> {
        let start = Instant::now();
        let asked = self.read_one(Statement::new("SELECT version FROM epitome_schema")).await?;
        let schema = asked.first()?.integer()?;
        let microseconds = start.elapsed().as_micros() as u64;
        Ok(Health { backend: self.database.backend(), schema: schema as u32, microseconds })
    }
}

/// Which database an address names.
enum Address {
    #[cfg(feature = "sqlite")]
    Memory,
    #[cfg(feature = "sqlite")]
    Sqlite(SqliteSettings),
    #[cfg(feature = "postgres")]
    Postgres(PostgresSettings),
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(unused_variables, reason = "databases have addresses")
)]
fn read_address(address: &str) -> Result<Address, StoreError> {
    #[cfg(feature = "sqlite")]
    if let Some(path) = address.strip_prefix("sqlite:") {
        return match path.strip_prefix("//").unwrap_or(path) {
            "" => Err(StoreError::Address),
            ":memory:" => Ok(Address::Memory),
            path => Ok(Address::Sqlite(SqliteSettings::new(path))),
        };
    }
    #[cfg(feature = "postgres")]
    if ["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme)) {
        return Ok(Address::Postgres(PostgresSettings::new(address)));
    }
    Err(StoreError::Address)
}

/// The name of the lock that marks a compaction of a session. No session's own lock has a name of three lines.
fn mark_name(tenant: &Tenant, id: &str) -> String {
    format!("compaction\n{tenant}\n{id}")
}

fn not_found(id: &str) -> StoreError {
    StoreError::NotFound { of: "session", name: Arc::from(id) }
}

/// Milliseconds since 1970-01-01 UTC.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
