//! What a database does for a store.

use std::fmt::Debug;

use epitome_strategy::async_trait;

#[cfg(feature = "postgres")]
use super::postgres::Wakeups;
use super::statement::{Outcome, Statement};
use crate::error::StoreError;
use crate::lock::ExternalLock;

/// Runs the statements.
#[async_trait]
pub(super) trait Database: Send + Sync + Debug {
    /// The kind of database.
    fn backend(&self) -> &'static str;
    /// Runs statements in their order, all or none, all of them on the same state of the data.
    async fn run(&self, access: Access, statements: Vec<Statement>) -> Result<Vec<Outcome>, Failure>;
    /// Waits for a lock that all processes on this database see; `None` where the database has no such locks.
    async fn lock(&self, name: &str) -> Result<Option<Box<dyn ExternalLock>>, StoreError>;
    /// Takes such a lock where no other process has it.
    async fn try_lock(&self, _name: &str) -> Result<Attempted, StoreError> {
        Ok(Attempted::Unknown)
    }
    /// Whether any process has such a lock.
    async fn is_locked(&self, _name: &str) -> Result<bool, StoreError> {
        Ok(false)
    }
    /// Ends the work on the database.
    fn close(&self);
    /// A connection that hears of events; `None` where processes on this database do not tell each other of any.
    #[cfg(feature = "postgres")]
    async fn wakeups(&self) -> Result<Option<Wakeups>, StoreError> {
        Ok(None)
    }
}

/// The result of an attempt at a lock.
#[derive(Debug)]
#[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "other databases have no such locks"))]
pub(super) enum Attempted {
    /// The database has no locks that other processes see.
    Unknown,
    /// Another process has it.
    Refused,
    /// It is held.
    Held(Box<dyn ExternalLock>),
}

/// Whether statements read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// Writes to make room.
    Delete,
}

/// Why statements changed nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The statement of this number did not change as many rows as it expects.
    Unmet(usize),
    /// Something of that name is there already.
    Taken,
    /// The database failed.
    Error(StoreError),
}

impl Failure {
    /// The error where the statements expect nothing.
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Error(error) => error,
            Self::Unmet(_) | Self::Taken => {
                StoreError::Database { doing: "changing the database", source: "it refused the change".into() }
            }
        }
    }
}
