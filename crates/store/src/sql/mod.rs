//! A store in an SQL database: one text of SQL for all databases, each of which only runs it.

mod memories;
mod migrations;
#[cfg(feature = "postgres")]
mod postgres;
mod sessions;
mod settings;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statement;
mod views;
mod writes;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use epitome_session::{Message, Session};
use epitome_strategy::BoxFuture;

use crate::archive::SessionArchive;
use crate::error::StoreError;
use crate::lock::{ExternalLock, SessionLock, Turns};
use crate::memory::{Memory, Scope};
use crate::settings::{Agent, Channel};
use crate::store::{
    EpochTimes, Health, Messages, Page, Paging, SessionFilter, SessionInfo, SessionMetadata, Slice, Store,
    StoredMessage, StoredSession, Tenant, ViewKind, check_name,
};

#[cfg(feature = "postgres")]
pub use postgres::PostgresSettings;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSettings;
use statement::{Outcome, Statement};

/// A store in an SQL database: embedded SQLite, or PostgreSQL. Cloning it is sharing it.
///
/// The tables are those of `migrations/`, for whoever wants to query them: times are milliseconds since 1970-01-01 UTC,
/// and what is JSON is called `body` or `settings`. Names of messages longer than 256 bytes are shortened there.
#[derive(Debug, Clone)]
pub struct SqlStore {
    database: Arc<dyn Database>,
    turns: Turns,
}

/// What runs the statements.
trait Database: Send + Sync + Debug {
    /// What keeps the data.
    fn backend(&self) -> &'static str;
    /// Runs statements in their order, all or none, all of them on the same state of the data.
    fn run(&self, access: Access, statements: Vec<Statement>) -> BoxFuture<'_, Result<Vec<Outcome>, Failure>>;
    /// Waits for a lock that all processes on this database see; `None` where there is none to be had.
    fn lock<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Box<dyn ExternalLock>>, StoreError>>;
}

/// What statements are going to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Why statements changed nothing.
#[derive(Debug)]
enum Failure {
    /// The statement of this number did not change as many rows as it expects.
    Unmet(usize),
    /// Something of that name is there already.
    Taken,
    /// The database failed.
    Error(StoreError),
}

impl Failure {
    /// The error where the statements expect nothing.
    fn into_error(self) -> StoreError {
        match self {
            Self::Error(error) => error,
            Self::Unmet(_) | Self::Taken => {
                StoreError::Database { doing: "changing the database", source: "it refused the change".into() }
            }
        }
    }
}

impl SqlStore {
    /// The store at an address: `sqlite:PATH`, which is made where there is none, `sqlite::memory:`, or
    /// `postgres://user@host/database`, with the settings as they are by default. Changes the tables where they are those of
    /// an earlier version.
    pub async fn open(address: &str) -> Result<Self, StoreError> {
        #[cfg(feature = "sqlite")]
        if let Some(path) = address.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err(StoreError::Address),
                ":memory:" => Self::sqlite_in_memory(),
                path => Self::sqlite(&SqliteSettings::new(path)),
            };
        }
        #[cfg(feature = "postgres")]
        if ["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Self::postgres(&PostgresSettings::new(address)).await;
        }
        Err(StoreError::Address)
    }

    /// The store at an address, as [`open`](Self::open) takes it, for whoever only reads: nothing is made, and no table is
    /// changed. One in memory ends with its process, so none is ever found.
    ///
    /// Errors where there is none, or where its tables are those of an earlier or a later version.
    pub async fn open_existing(address: &str) -> Result<Self, StoreError> {
        #[cfg(feature = "sqlite")]
        if let Some(path) = address.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err(StoreError::Address),
                ":memory:" => Err(StoreError::NoStore { at: "in memory".to_owned() }),
                path => Self::sqlite_existing(&SqliteSettings::new(path)),
            };
        }
        #[cfg(feature = "postgres")]
        if ["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Self::postgres_existing(&PostgresSettings::new(address)).await;
        }
        Err(StoreError::Address)
    }

    fn over(database: impl Database + 'static) -> Self {
        Self { database: Arc::new(database), turns: Turns::default() }
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StoreError> {
        self.database.run(Access::Read, statements).await.map_err(Failure::into_error)
    }

    async fn read_one(&self, statement: Statement) -> Result<Outcome, StoreError> {
        Ok(self.read(vec![statement]).await?.pop().unwrap_or_default())
    }

    /// Runs statements that change something, and says how many rows each changed.
    async fn write(&self, statements: Vec<Statement>) -> Result<Vec<u64>, StoreError> {
        let outcomes = self.database.run(Access::Write, statements).await.map_err(Failure::into_error)?;
        Ok(outcomes.into_iter().map(|outcome| outcome.changed).collect())
    }

    async fn write_one(&self, statement: Statement) -> Result<u64, StoreError> {
        Ok(self.write(vec![statement]).await?.pop().unwrap_or_default())
    }

    async fn lock_now(&self, tenant: &Tenant, id: &str) -> Result<SessionLock, StoreError> {
        check_name("session", id)?;
        // Names hold no control characters: no two pairs give the same text.
        let name = format!("{tenant}\n{id}");
        // First the turn in this process, so that of all who wait here only one waits at the database.
        let turn = self.turns.wait(Arc::from(name.as_str())).await;
        let elsewhere = self.database.lock(&name).await?;
        Ok(SessionLock::new(turn, elsewhere))
    }

    async fn health_now(&self) -> Result<Health, StoreError> {
        let start = Instant::now();
        let asked = self.read_one(Statement::new("SELECT version FROM epitome_schema")).await?;
        let schema = asked.first()?.integer()?;
        let microseconds = start.elapsed().as_micros() as u64;
        Ok(Health { backend: self.database.backend(), schema: schema as u32, microseconds })
    }
}

/// Milliseconds since 1970-01-01 UTC.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl Store for SqlStore {
    fn create_session<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        about: &'a SessionMetadata,
        session: &'a Session,
        archive: &'a mut SessionArchive,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.create_now(tenant, id, about, session, archive))
    }

    fn sessions<'a>(
        &'a self,
        tenant: &'a Tenant,
        filter: &'a SessionFilter,
        paging: &'a Paging,
    ) -> BoxFuture<'a, Result<Page<SessionInfo>, StoreError>> {
        Box::pin(self.list_now(tenant, filter, paging))
    }

    fn session_info<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<SessionInfo, StoreError>> {
        Box::pin(self.info_now(tenant, id))
    }

    fn session<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<StoredSession, StoreError>> {
        Box::pin(self.load_now(tenant, id))
    }

    fn describe<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        about: &'a SessionMetadata,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.describe_now(tenant, id, about))
    }

    fn append<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        messages: &'a [Arc<Message>],
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.append_now(tenant, id, expected, messages))
    }

    fn set_tools<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        tools: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.set_tools_now(tenant, id, expected, tools))
    }

    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        session: &'a Session,
        archive: &'a mut SessionArchive,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.commit_now(tenant, id, expected, session, archive))
    }

    fn undo<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        epoch: u32,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.undo_now(tenant, id, expected, epoch))
    }

    fn save<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        session: &'a Session,
        archive: &'a mut SessionArchive,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.save_now(tenant, id, expected, session, archive))
    }

    fn delete_session<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.delete_now(tenant, id))
    }

    fn view<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        kind: ViewKind,
        slice: Slice,
    ) -> BoxFuture<'a, Result<Messages, StoreError>> {
        Box::pin(self.view_now(tenant, id, kind, slice))
    }

    fn behind<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        summary: &'a str,
        slice: Slice,
    ) -> BoxFuture<'a, Result<Messages, StoreError>> {
        Box::pin(self.behind_now(tenant, id, summary, slice))
    }

    fn latest_summary<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredMessage>, StoreError>> {
        Box::pin(self.latest_summary_now(tenant, id))
    }

    fn epoch_times<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<EpochTimes>, StoreError>> {
        Box::pin(self.epoch_times_now(tenant, id))
    }

    fn lock<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<SessionLock, StoreError>> {
        Box::pin(self.lock_now(tenant, id))
    }

    fn remember<'a>(&'a self, tenant: &'a Tenant, memories: &'a [Memory]) -> BoxFuture<'a, Result<usize, StoreError>> {
        Box::pin(self.remember_now(tenant, memories))
    }

    fn recent_memories<'a>(
        &'a self,
        tenant: &'a Tenant,
        scope: &'a Scope,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>> {
        Box::pin(self.recent_now(tenant, scope, most))
    }

    fn search_memories<'a>(
        &'a self,
        tenant: &'a Tenant,
        scope: &'a Scope,
        words: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>> {
        Box::pin(self.search_now(tenant, scope, words, most))
    }

    fn forget_memory<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.forget_now(tenant, id))
    }

    fn put_agent<'a>(&'a self, tenant: &'a Tenant, agent: &'a Agent) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.put_agent_now(tenant, agent))
    }

    fn agents<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<Agent>, StoreError>> {
        Box::pin(self.agents_now(tenant))
    }

    fn agent<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<Option<Agent>, StoreError>> {
        Box::pin(self.agent_now(tenant, name))
    }

    fn delete_agent<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.delete_agent_now(tenant, name))
    }

    fn put_channel<'a>(&'a self, tenant: &'a Tenant, channel: &'a Channel) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.put_channel_now(tenant, channel))
    }

    fn channels<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<Channel>, StoreError>> {
        Box::pin(self.channels_now(tenant))
    }

    fn channel<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<Option<Channel>, StoreError>> {
        Box::pin(self.channel_now(tenant, name))
    }

    fn session_with_channel<'a>(
        &'a self,
        tenant: &'a Tenant,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(self.session_with_channel_now(tenant, name))
    }

    fn delete_channel<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.delete_channel_now(tenant, name))
    }

    fn health(&self) -> BoxFuture<'_, Result<Health, StoreError>> {
        Box::pin(self.health_now())
    }
}
