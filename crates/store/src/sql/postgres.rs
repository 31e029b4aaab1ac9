//! PostgreSQL, which several instances may share.

mod connect;
mod locks;
mod wakeups;

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::future::poll_fn;
use std::str::FromStr;
use std::task::Poll;
use std::time::Duration;

use deadpool_postgres::Pool;
use epitome_strategy::async_trait;
use tokio::task::unconstrained;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Config, IsolationLevel, Transaction};

use super::Store;
use super::database::{Access, Attempted, Database, Failure};
use super::migrations::{POSTGRES, VERSION_TABLE, check_current, missing};
use super::statement::{Outcome, Row, Statement, Value};
use crate::error::StoreError;
use crate::lock::ExternalLock;
use connect::{connection, failed, pool};
use locks::{Keys, Locks};
pub use wakeups::Wakeups;

/// A computer that is gone holds no locks for long: the server finds out within a minute instead of two hours.
const KEEPALIVES: &str = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3";

/// Whether a lock of that number is held by anybody. The database shows the number in two halves.
const IS_LOCKED: &str = "\
    SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
    AND (classid::int8 << 32 | objid::int8) = $1 \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";

/// The number of attempts at a change that the database aborts because of a concurrent one.
const MOST_ATTEMPTS: u32 = 5;

/// The settings of a PostgreSQL database. Its address is never shown: it may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    /// The address: `postgres://user@host/database`, as libpq takes it. `sslmode` is `prefer` where it is not said; the
    /// server's certificate is checked against the system's, or those of the file that `SSL_CERT_FILE` names.
    pub url: String,
    /// The schema that holds the tables, which is made where it does not exist: `epitome`. Lower-case letters, digits
    /// and `_`.
    pub schema: String,
    /// The most connections for statements: 8. There is one more for locks.
    pub connections: u32,
}

impl PostgresSettings {
    /// A database at that address.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), schema: "epitome".to_owned(), connections: 8 }
    }
}

impl Debug for PostgresSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresSettings")
            .field("schema", &self.schema)
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// A store in a PostgreSQL database. Needs a tokio runtime, to which its connections belong.
    ///
    /// All locks of the store are held by one connection: behind a pooler that gives a connection to each transaction
    /// they do not work. When it breaks, other instances may take them, and the next change of an earlier holder may be
    /// a [`StoreError::Conflict`]: versions, not locks, keep a session from harm.
    ///
    /// Errors where the database cannot be reached, or holds tables of a later version.
    pub async fn postgres(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let database = Postgres::connect(settings)?;
        unconstrained(database.migrate()).await?;
        Ok(Self::over(database))
    }

    /// A store in a PostgreSQL database that has its tables, of this version: none are made or changed. Otherwise as
    /// [`postgres`](Self::postgres).
    ///
    /// Errors where the database cannot be reached, has no such tables, or has those of another version.
    pub async fn postgres_existing(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let database = Postgres::connect(settings)?;
        unconstrained(database.check()).await?;
        Ok(Self::over(database))
    }
}

struct Postgres {
    pool: Pool,
    locks: Locks,
    /// How connections are made.
    config: Config,
    schema: String,
}

impl Debug for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Postgres").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Postgres {
    /// The database, to which a connection is made when it is first asked something.
    fn connect(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let schema = settings.schema.clone();
        let is_plain = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
        if schema.is_empty() || schema.len() > 60 || !schema.chars().all(is_plain) {
            let problem = "it must be lower-case letters, digits and `_`";
            return Err(StoreError::Name { of: "schema", name: schema, problem });
        }
        // Its error may repeat the address.
        let mut config = Config::from_str(&settings.url).map_err(|_| StoreError::Address)?;
        let options = config.get_options().unwrap_or_default();
        config.options(format!("{options} -c search_path={schema} {KEEPALIVES}").trim());
        if config.get_application_name().is_none() {
            config.application_name("epitome");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        let connections = pool(&config, settings.connections)?;
        Ok(Self { pool: connections, locks: Locks::start(pool(&config, 1)?), config, schema })
    }

    /// Checks that the tables exist and have this version. Changes nothing.
    async fn check(&self) -> Result<(), StoreError> {
        let failed = failed("looking at the tables of the database");
        let mut client = connection(&self.pool).await?;
        let transaction = client.build_transaction().read_only(true).start().await.map_err(failed)?;
        let version = self.version(&transaction).await?;
        check_current(POSTGRES, version, || format!("in the schema `{}` of that database", self.schema))
    }

    /// The version of the tables; `None` where there are no tables.
    async fn version(&self, transaction: &Transaction<'_>) -> Result<Option<i64>, StoreError> {
        let failed = failed("looking at the tables of the database");
        let table = format!("{}.epitome_schema", self.schema);
        let found = transaction.query_one("SELECT to_regclass($1::text)::text", &[&table]).await.map_err(&failed)?;
        if found.try_get::<_, Option<String>>(0).map_err(&failed)?.is_none() {
            return Ok(None);
        }
        let row = transaction.query_one("SELECT MAX(version) FROM epitome_schema", &[]).await;
        let version = row.and_then(|row| row.try_get::<_, Option<i32>>(0)).map_err(&failed)?;
        Ok(version.map(i64::from))
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let failed = failed("preparing the tables of the database");
        let mut client = connection(&self.pool).await?;
        let transaction = client.transaction().await.map_err(&failed)?;
        // Instances that start together do this one after the other.
        let key = lock_key("migration", &self.schema);
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&key]).await.map_err(&failed)?;
        // Looked for first: where there is nothing to do, no right to make anything is needed.
        let missing = missing(POSTGRES, self.version(&transaction).await?)?;
        if missing.is_empty() {
            return Ok(());
        }
        let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", self.schema);
        for statements in [schema.as_str(), VERSION_TABLE].into_iter().chain(missing.iter().copied()) {
            transaction.batch_execute(statements).await.map_err(&failed)?;
        }
        let version = POSTGRES.len() as i32;
        transaction.execute("DELETE FROM epitome_schema", &[]).await.map_err(&failed)?;
        let insert = "INSERT INTO epitome_schema (version) VALUES ($1)";
        transaction.execute(insert, &[&version]).await.map_err(&failed)?;
        transaction.commit().await.map_err(&failed)
    }

    async fn attempt(&self, access: Access, statements: &[Statement]) -> Result<Vec<Outcome>, Attempt> {
        let mut client = connection(&self.pool).await?;
        // Each text once: nearly all statements of a change are a few texts again and again.
        let mut prepared: HashMap<&str, tokio_postgres::Statement> = HashMap::new();
        for statement in statements {
            if !prepared.contains_key(&*statement.sql) {
                let sql = statement.sql.replace('?', "$");
                prepared.insert(&statement.sql, client.prepare_cached(&sql).await?);
            }
        }
        let transaction = client.build_transaction();
        let transaction = match access {
            // All statements see the same state.
            Access::Read => transaction.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
            Access::Write | Access::Delete => transaction.isolation_level(IsolationLevel::ReadCommitted),
        };
        let transaction = transaction.start().await?;
        let mut outcomes = Vec::with_capacity(statements.len());
        let (first, rest) = statements.split_at(statements.len().min(1));
        // The first is the guard: what it refuses is not tried. The others are sent without waiting for one another.
        for part in [first, rest] {
            let mut sent = Vec::with_capacity(part.len());
            for statement in part {
                let Some(prepared) = prepared.get(&*statement.sql) else { continue };
                let mut answer = Box::pin(run_one(&transaction, prepared, statement));
                // Polled in their order: a statement is sent when its future is first polled.
                let polled = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
                sent.push((statement, answer, polled));
            }
            for (statement, answer, polled) in sent {
                let outcome = match polled {
                    Poll::Ready(outcome) => outcome?,
                    Poll::Pending => answer.await?,
                };
                if statement.expect.is_some_and(|expected| outcome.changed != expected) {
                    return Err(Attempt::Failed(Failure::Unmet(outcomes.len())));
                }
                outcomes.push(outcome);
            }
        }
        transaction.commit().await?;
        Ok(outcomes)
    }
}

/// Why an attempt failed.
#[derive(Debug)]
enum Attempt {
    /// The database gave it up in favour of another one.
    Again(StoreError),
    Failed(Failure),
}

impl From<tokio_postgres::Error> for Attempt {
    fn from(error: tokio_postgres::Error) -> Self {
        let failed = failed("asking the database");
        match error.code() {
            Some(&SqlState::UNIQUE_VIOLATION) => Self::Failed(Failure::Taken),
            Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE) => Self::Again(failed(error)),
            _ => Self::Failed(Failure::Error(failed(error))),
        }
    }
}

impl From<StoreError> for Attempt {
    fn from(error: StoreError) -> Self {
        Self::Failed(Failure::Error(error))
    }
}

async fn run_one(
    transaction: &Transaction<'_>,
    prepared: &tokio_postgres::Statement,
    statement: &Statement,
) -> Result<Outcome, tokio_postgres::Error> {
    let values: Vec<&(dyn ToSql + Sync)> = statement.values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
    if !statement.is_query() {
        return Ok(Outcome { rows: Vec::new(), changed: transaction.execute(prepared, &values).await? });
    }
    let rows = transaction.query(prepared, &values).await?;
    Ok(Outcome { rows: rows.iter().map(row).collect::<Result<_, _>>()?, changed: 0 })
}

fn row(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    let value = |at: usize| {
        let value = match *row.columns()[at].type_() {
            Type::BOOL => row.try_get::<_, Option<bool>>(at)?.map(Value::Bool),
            Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map(|integer| Value::Integer(integer.into())),
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Value::Integer),
            _ => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
        };
        Ok(value.unwrap_or(Value::Null))
    };
    Ok(Row((0..row.len()).map(value).collect::<Result<_, tokio_postgres::Error>>()?))
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut tokio_postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match (self, kind) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Integer(integer), &Type::INT8) => integer.to_sql(kind, out),
            (Self::Bool(bool), &Type::BOOL) => bool.to_sql(kind, out),
            (Self::Text(text), &(Type::TEXT | Type::VARCHAR)) => text.to_sql(kind, out),
            (Self::Integer(_) | Self::Bool(_) | Self::Text(_), _) => Err(format!("no value for a {kind}").into()),
        }
    }

    /// The value decides whether it fits, not its type alone.
    fn accepts(_kind: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

#[async_trait]
impl Database for Postgres {
    fn backend(&self) -> &'static str {
        "postgres"
    }

    async fn run(&self, access: Access, statements: Vec<Statement>) -> Result<Vec<Outcome>, Failure> {
        let mut attempts = 1;
        loop {
            match self.attempt(access, &statements).await {
                Ok(outcomes) => return Ok(outcomes),
                Err(Attempt::Failed(failure)) => return Err(failure),
                Err(Attempt::Again(error)) if attempts == MOST_ATTEMPTS => return Err(Failure::Error(error)),
                Err(Attempt::Again(_)) => attempts += 1,
            }
        }
    }

    async fn lock(&self, name: &str) -> Result<Option<Box<dyn ExternalLock>>, StoreError> {
        // No session's name begins like that: it would hold two line breaks.
        let gate = lock_key(&format!("gate\n{name}"), &self.schema);
        let keys = Keys { lock: lock_key(name, &self.schema), gate };
        Ok(Some(Box::new(self.locks.take(keys).await?) as Box<dyn ExternalLock>))
    }

    async fn try_lock(&self, name: &str) -> Result<Attempted, StoreError> {
        let taken = self.locks.try_take(lock_key(name, &self.schema)).await?;
        Ok(taken.map_or(Attempted::Refused, |lock| Attempted::Held(Box::new(lock))))
    }

    async fn is_locked(&self, name: &str) -> Result<bool, StoreError> {
        let client = connection(&self.pool).await?;
        let failed = failed("asking for a lock");
        let query = client.prepare_cached(IS_LOCKED).await.map_err(&failed)?;
        let row = client.query_one(&query, &[&lock_key(name, &self.schema)]).await.map_err(&failed)?;
        row.try_get(0).map_err(&failed)
    }

    fn close(&self) {
        self.pool.close();
    }

    async fn wakeups(&self) -> Result<Option<Wakeups>, StoreError> {
        Wakeups::connect(&self.config).await.map(Some)
    }
}

/// The number of a lock in the database. Two names of the same number would only wait for each other's instances.
fn lock_key(name: &str, schema: &str) -> i64 {
    let hash = blake3::hash(format!("{schema}\n{name}").as_bytes());
    let mut key = [0; 8];
    key.copy_from_slice(&hash.as_bytes()[..8]);
    i64::from_le_bytes(key)
}
