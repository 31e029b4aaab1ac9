//! Embedded SQLite.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use epitome_strategy::{async_trait, lock};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, Transaction, TransactionBehavior, ffi, params_from_iter};

use super::Store;
use super::database::{Access, Database, Failure};
use super::migrations::{SQLITE, VERSION_TABLE, check_current, missing};
use super::reserve::Reserve;
use super::statement::{Outcome, Row, Statement, Value};
use crate::error::StoreError;
use crate::lock::ExternalLock;
use tokio::sync::oneshot;

/// The settings of an SQLite database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteSettings {
    /// The file, which is made where it does not exist, readable by its owner alone; two others beside it hold changes
    /// that are not yet in it, and a third keeps 2 MiB for deletions on a full disk.
    pub path: PathBuf,
    /// The time to wait for another process that writes, in milliseconds: 10,000.
    pub busy_timeout_ms: u32,
    /// The most pages that the database may have, of 4,096 bytes as a rule; `None` for as many as the disk holds.
    pub max_pages: Option<u32>,
    /// The number of threads that read: 2. One more writes.
    pub readers: u32,
}

impl SqliteSettings {
    /// A database in that file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), busy_timeout_ms: 10_000, max_pages: None, readers: 2 }
    }
}

impl Store {
    /// A store in an SQLite file. Every change is on the disk when its call returns. Needs no asynchronous runtime.
    ///
    /// Errors where the file cannot be opened, is not a database, or is one of a later version.
    pub fn sqlite(settings: &SqliteSettings) -> Result<Self, StoreError> {
        Sqlite::open(settings).map(Self::over)
    }

    /// A store in an SQLite file that is there, with tables of this version: neither is made or changed.
    ///
    /// Errors where the file does not exist, or has another version.
    pub fn sqlite_existing(settings: &SqliteSettings) -> Result<Self, StoreError> {
        check_file(&settings.path)?;
        Self::sqlite(settings)
    }

    /// An SQLite store that ends with the process.
    pub fn sqlite_in_memory() -> Result<Self, StoreError> {
        let mut connection = Connection::open_in_memory().map_err(failed("opening the database"))?;
        connection.pragma_update(None, "foreign_keys", true).map_err(failed("opening the database"))?;
        migrate(&mut connection)?;
        let (writer, threads) = spawn("epitome-sqlite", vec![connection])?;
        Ok(Self::over(Sqlite::new(writer.clone(), writer, threads)))
    }
}

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A database, until it is closed.
#[derive(Debug)]
struct Sqlite {
    workers: Mutex<Option<Workers>>,
    /// Room for deletions on a full disk; a database in memory has none.
    reserve: Option<Arc<Reserve>>,
}

/// The threads that work on a database: SQLite blocks.
#[derive(Debug)]
struct Workers {
    /// `None` only while it is dropped.
    writer: Option<Sender<Job>>,
    readers: Sender<Job>,
    /// The writer's, then those of the readers.
    threads: Vec<JoinHandle<()>>,
    /// The process that has the threads: one that was forked off has none.
    process: u32,
}

impl Sqlite {
    fn open(settings: &SqliteSettings) -> Result<Self, StoreError> {
        epitome_shelf::check_plain(&settings.path).map_err(StoreError::io("opening", &settings.path))?;
        create_private(&settings.path);
        let mut writer = connect(settings)?;
        if let Some(pages) = settings.max_pages {
            writer.pragma_update(None, "max_page_count", pages).map_err(at(&settings.path))?;
        }
        migrate(&mut writer)?;
        let reader = || {
            let connection = connect(settings)?;
            connection.pragma_update(None, "query_only", true).map_err(at(&settings.path))?;
            Ok(connection)
        };
        let readers = (0..settings.readers.max(1)).map(|_| reader()).collect::<Result<Vec<_>, StoreError>>()?;
        let (writer, mut threads) = spawn("epitome-sqlite-write", vec![writer])?;
        let (readers, others) = spawn("epitome-sqlite-read", readers)?;
        threads.extend(others);
        let reserve = Reserve::beside(&settings.path).map(Arc::new);
        Ok(Self { reserve, ..Self::new(readers, writer, threads) })
    }

    fn new(readers: Sender<Job>, writer: Sender<Job>, threads: Vec<JoinHandle<()>>) -> Self {
        let workers = Workers { writer: Some(writer), readers, threads, process: process::id() };
        Self { workers: Mutex::new(Some(workers)), reserve: None }
    }
}

impl Drop for Workers {
    /// Waits until all jobs are done: the file is closed when this returns. The writer's connection is the last one, since
    /// of two that close at the same time neither may take the write-ahead log away.
    fn drop(&mut self) {
        self.readers = mpsc::channel().0;
        if self.process != process::id() {
            std::mem::forget(std::mem::take(&mut self.threads));
            return;
        }
        let readers = self.threads.split_off(self.threads.len().min(1));
        readers.into_iter().for_each(|thread| drop(thread.join()));
        self.writer = None;
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Makes the file where it does not exist, readable by its owner alone: it holds what people said. SQLite gives the
/// files beside it the same mode. Where it cannot be made, opening it returns the reason.
fn create_private(path: &Path) {
    if path.to_str().is_some_and(|path| path.starts_with("file:")) {
        return; // an address, by which SQLite opens something else
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).ok();
}

/// Looks at a file without changing it: whether it is a store with tables of this version.
fn check_file(path: &Path) -> Result<(), StoreError> {
    let place = || format!("at `{}`", path.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let version = Connection::open_with_flags(path, flags).and_then(|connection| {
        let tables = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = 'epitome_schema'";
        match connection.query_row(tables, [], |row| row.get::<_, i64>(0))? {
            0 => Ok(None),
            _ => connection.query_row("SELECT MAX(version) FROM epitome_schema", [], |row| row.get(0)),
        }
    });
    match version {
        Ok(version) => check_current(SQLITE, version, place),
        Err(error) => {
            let is_address = path.to_str().is_some_and(|path| path.starts_with("file:"));
            let is_none = match is_address {
                true => error.sqlite_error_code() == Some(ErrorCode::CannotOpen),
                false => !path.is_file(),
            };
            Err(if is_none { StoreError::NoStore { at: place() } } else { at(path)(error) })
        }
    }
}

fn connect(settings: &SqliteSettings) -> Result<Connection, StoreError> {
    let opened = || {
        let connection = Connection::open(&settings.path)?;
        connection.busy_timeout(Duration::from_millis(settings.busy_timeout_ms.into()))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        // A change that was reported as stored survives a loss of power.
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    };
    opened().map_err(at(&settings.path))
}

/// Starts a thread for each connection; a free one does the next job. They end when all senders of jobs are gone.
fn spawn(name: &str, connections: Vec<Connection>) -> Result<(Sender<Job>, Vec<JoinHandle<()>>), StoreError> {
    let (sender, receiver) = mpsc::channel::<Job>();
    let receiver: Arc<Mutex<Receiver<Job>>> = Arc::new(Mutex::new(receiver));
    let mut threads = Vec::new();
    for mut connection in connections {
        let receiver = Arc::clone(&receiver);
        let next = move || lock(&receiver).recv();
        let work = move || {
            while let Ok(job) = next() {
                job(&mut connection);
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        threads
            .push(thread.map_err(|source| StoreError::Database { doing: "starting a thread", source: source.into() })?);
    }
    Ok((sender, threads))
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let failed = failed("preparing the tables of the database");
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    transaction.execute_batch(VERSION_TABLE).map_err(&failed)?;
    let version = transaction.query_row("SELECT MAX(version) FROM epitome_schema", [], |row| row.get(0));
    let missing = missing(SQLITE, version.map_err(&failed)?)?;
    if missing.is_empty() {
        return Ok(()); // nothing was changed
    }
    for migration in missing {
        transaction.execute_batch(migration).map_err(&failed)?;
    }
    transaction.execute("DELETE FROM epitome_schema", []).map_err(&failed)?;
    transaction.execute("INSERT INTO epitome_schema (version) VALUES (?1)", [SQLITE.len() as i64]).map_err(&failed)?;
    transaction.commit().map_err(&failed)
}

#[async_trait]
impl Database for Sqlite {
    fn backend(&self) -> &'static str {
        "sqlite"
    }

    async fn run(&self, access: Access, statements: Vec<Statement>) -> Result<Vec<Outcome>, Failure> {
        let ended = || {
            let source = "its thread has ended".into();
            Failure::Error(StoreError::Database { doing: "asking the database", source })
        };
        let worker = match (&*lock(&self.workers), access) {
            (None, _) => return Err(Failure::Error(StoreError::Closed)),
            (Some(workers), Access::Read) => Some(workers.readers.clone()),
            (Some(workers), Access::Write | Access::Delete) => workers.writer.clone(),
        };
        let reserve = self.reserve.clone().filter(|_| access == Access::Delete);
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let mut outcome = run(connection, access, &statements);
            if let (Some(reserve), Err(Failure::Error(StoreError::Full { .. }))) = (&reserve, &outcome) {
                reserve.release();
                outcome = run(connection, access, &statements);
                // What was written of it goes into the database, if there is room; then the room is for the next one.
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).ok();
                reserve.fill();
            }
            // Nobody waits any more where this fails.
            sender.send(outcome).ok();
        });
        worker.and_then(|worker| worker.send(job).ok()).ok_or_else(ended)?;
        receiver.await.map_err(|_| ended())?
    }

    async fn lock(&self, _name: &str) -> Result<Option<Box<dyn ExternalLock>>, StoreError> {
        Ok(None) // the turn in this process is all there is
    }

    fn close(&self) {
        let workers = lock(&self.workers).take();
        drop(workers);
    }
}

fn run(connection: &mut Connection, access: Access, statements: &[Statement]) -> Result<Vec<Outcome>, Failure> {
    let behavior = match access {
        Access::Read => TransactionBehavior::Deferred,
        Access::Write | Access::Delete => TransactionBehavior::Immediate,
    };
    let transaction = connection.transaction_with_behavior(behavior).map_err(failure)?;
    let mut outcomes = Vec::with_capacity(statements.len());
    for (index, statement) in statements.iter().enumerate() {
        let outcome = run_one(&transaction, statement).map_err(failure)?;
        if statement.expect.is_some_and(|expected| outcome.changed != expected) {
            return Err(Failure::Unmet(index)); // dropping the transaction rolls it back
        }
        outcomes.push(outcome);
    }
    transaction.commit().map_err(failure)?;
    Ok(outcomes)
}

fn run_one(transaction: &Transaction<'_>, statement: &Statement) -> rusqlite::Result<Outcome> {
    let mut prepared = transaction.prepare_cached(&statement.sql)?;
    let values = params_from_iter(&statement.values);
    if !statement.is_query() {
        return Ok(Outcome { rows: Vec::new(), changed: prepared.execute(values)? as u64 });
    }
    let columns = prepared.column_count();
    let row = |row: &rusqlite::Row<'_>| Ok(Row((0..columns).map(|at| value(row, at)).collect::<Result<_, _>>()?));
    let rows = prepared.query_map(values, row)?.collect::<Result<_, _>>()?;
    Ok(Outcome { rows, changed: 0 })
}

fn value(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            return Err(rusqlite::Error::InvalidColumnType(at, "value".to_owned(), row.get_ref(at)?.data_type()));
        }
    })
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Bool(bool) => ValueRef::Integer((*bool).into()),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn failure(error: rusqlite::Error) -> Failure {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => Failure::Taken,
        _ => Failure::Error(failed("asking the database")(error)),
    }
}

fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { source: error.into() },
        _ => StoreError::Database { doing, source: error.into() },
    }
}

/// The same with the file that was to be opened.
fn at(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
    move |error| StoreError::Database {
        doing: "opening the database",
        source: format!("`{}`: {error}", path.display()).into(),
    }
}
