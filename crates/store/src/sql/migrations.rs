//! The versions of the tables.

use crate::error::StoreError;

/// The table that says which version of the tables there is; it has one row, or none in a new database.
pub(super) const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS epitome_schema (version INTEGER NOT NULL)";

#[cfg(feature = "sqlite")]
pub(super) const SQLITE: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_first.sql"),
    include_str!("../../migrations/sqlite/0002_service_keys.sql"),
];

#[cfg(feature = "postgres")]
pub(super) const POSTGRES: &[&str] = &[
    include_str!("../../migrations/postgres/0001_first.sql"),
    include_str!("../../migrations/postgres/0002_instances.sql"),
    include_str!("../../migrations/postgres/0003_service_keys.sql"),
];

/// Whether the database of that version at `at` can be used as it is: an error where it has no tables, or those of
/// another version.
pub(super) fn check_current(
    all: &'static [&'static str],
    version: Option<i64>,
    at: impl FnOnce() -> String,
) -> Result<(), StoreError> {
    let Some(version) = version else { return Err(StoreError::NoStore { at: at() }) };
    match missing(all, Some(version))? {
        [] => Ok(()),
        _ => Err(StoreError::OlderDatabase { version: u32::try_from(version).unwrap_or(0), known: all.len() as u32 }),
    }
}

/// The migrations that a database of that version lacks; an error where it is of a later version than is known.
pub(super) fn missing(
    all: &'static [&'static str],
    version: Option<i64>,
) -> Result<&'static [&'static str], StoreError> {
    let version = usize::try_from(version.unwrap_or(0)).unwrap_or(usize::MAX);
    all.get(version..).ok_or(StoreError::NewerDatabase {
        version: u32::try_from(version).unwrap_or(u32::MAX),
        known: all.len() as u32,
    })
}
