//! What a set-up wants to be in an agent's folders.

use std::path::PathBuf;

use serde_json::Value;

use super::document::Syntax;

/// What a set-up wants to be in an agent's folders.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The files, in the order in which they are written: whole ones first, so that nothing names what is not there yet.
    pub(crate) files: Vec<PlannedFile>,
    /// Folders that are epitome's alone: where one is there with other files and no set-up made it, it belongs to someone else.
    pub(crate) folders: Vec<PathBuf>,
    /// What the person has to know or to do afterwards, a line each.
    pub(crate) advice: Vec<String>,
}

/// A file of a plan.
#[derive(Debug)]
pub(crate) struct PlannedFile {
    /// Its path, absolute.
    pub(crate) path: PathBuf,
    /// What is to be in it.
    pub(crate) content: PlannedContent,
}

/// The content of a planned file.
#[derive(Debug)]
pub(crate) enum PlannedContent {
    /// All of it: the file is epitome's own.
    Whole(String),
    /// Values at places of a file that is the person's.
    Values(Syntax, Vec<PlannedValue>),
}

/// A value at a place of a file.
#[derive(Debug)]
pub(crate) struct PlannedValue {
    /// The place: the names of tables, or objects, from the outermost on, and that of the value.
    pub(crate) keys: Vec<String>,
    /// The value; never null.
    pub(crate) value: Value,
    /// How another value that is there already is treated.
    pub(crate) other: OtherValue,
}

/// How another value at the place of a planned one is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherValue {
    /// It is replaced, and comes back with the undo.
    Replace,
    /// It stays, and the person is informed.
    Keep,
    /// Nothing is changed: the name is epitome's, and what stands under it is not.
    Refuse,
}

impl PlannedValue {
    /// A value at a place.
    pub(crate) fn new(keys: &[&str], value: impl Into<Value>, other: OtherValue) -> Self {
        Self { keys: keys.iter().map(|key| (*key).to_owned()).collect(), value: value.into(), other }
    }
}
