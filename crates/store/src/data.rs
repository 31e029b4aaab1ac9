//! The parameters and answers of a store.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Change, Entry, EntryKey, Epoch, Message, Origin, Session};
use serde::{Deserialize, Serialize};

use crate::archive::SessionArchive;

/// The host's data about a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionMetadata {
    /// The agent that it belongs to, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub agent: Option<String>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub title: Option<String>,
    /// Whatever else the host wants to know again. No secrets: they are refused ([`StoreError::Secret`](crate::StoreError::Secret)).
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>, nullable = false))]
    pub settings: serde_json::Value,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionInfo {
    /// The session's id.
    pub id: Arc<str>,
    /// The host's data about it.
    #[serde(flatten)]
    pub about: SessionMetadata,
    /// The number of changes so far: the version that the next change expects.
    pub version: u64,
    /// The number of messages in the log.
    pub messages: u32,
    /// The number of compactions, undone ones included.
    pub epochs: u32,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

/// Which sessions are asked for: those that meet all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFilter {
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions whose title contains this, in upper or lower case.
    pub title: Option<String>,
    /// Only sessions that changed at this time or later.
    pub updated_since: Option<i64>,
}

/// The part of a list to return, where the list may grow while it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// The most items.
    pub most: u32,
    /// Where to go on: [`Page::next`] of the page before.
    pub after: Option<String>,
}

impl Default for Paging {
    fn default() -> Self {
        Self { most: 50, after: None }
    }
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<String>,
}

/// A stored session, as it was at one moment.
#[derive(Debug)]
pub struct StoredSession {
    /// The session; its id is the one that it is stored under.
    pub session: Session,
    /// The session's archive.
    pub archive: SessionArchive,
    /// The number of changes so far: the version that the next change expects.
    pub version: u64,
    /// The host's data about the session.
    pub about: SessionMetadata,
}

/// Which of the two views of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ViewKind {
    /// The messages that the model would see now.
    #[default]
    Compacted,
    /// Everything that was ever said, and no summary.
    Full,
}

/// Some consecutive items of a list that is addressed by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The first item, from 0.
    pub from: u32,
    /// The most items.
    pub most: u32,
}

impl Slice {
    /// Everything.
    pub const ALL: Self = Self { from: 0, most: u32::MAX };
}

/// A message of a stored session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StoredMessage {
    /// The message's number in the log, from 0; `None` for one that a compaction added.
    #[cfg_attr(feature = "schema", schema(required))]
    pub number: Option<u32>,
    /// The message, as the view shows it.
    pub message: Arc<Message>,
    /// Whether the view shows it otherwise than it was recorded: an excerpt, or shortened arguments.
    pub is_edited: bool,
    /// Whether the message is a summary.
    pub is_summary: bool,
    /// When it was compacted, in milliseconds since 1970-01-01 UTC; `None` while it is in the compacted view.
    #[cfg_attr(feature = "schema", schema(required))]
    pub compacted_at: Option<i64>,
    /// The id of the message that replaces it, where one does.
    #[cfg_attr(feature = "schema", schema(required))]
    pub compacted_into: Option<Arc<str>>,
}

impl StoredMessage {
    /// An entry of a view, with what is known of its removal.
    pub fn new(entry: &Entry, removal: Option<&Removal>) -> Self {
        let (compacted_at, compacted_into) = removal.cloned().unwrap_or_default();
        Self {
            number: entry.key.number(),
            message: Arc::clone(&entry.message),
            is_edited: entry.is_edited(),
            is_summary: entry.message.origin == Origin::Summary,
            compacted_at,
            compacted_into,
        }
    }
}

/// When a message left the view whole, and the id of the message that replaces it, each where it is known.
pub type Removal = (Option<i64>, Option<Arc<str>>);

/// The messages that left the view whole by compactions in force, which were made at `times`. Linear in the changes.
pub fn removals(session: &Session, times: &[EpochTimes]) -> HashMap<EntryKey, Removal> {
    let journal = session.journal().iter().filter(|epoch| !epoch.undone);
    journal.flat_map(|epoch| removals_of(epoch, times.get(epoch.id as usize).map(|times| times.committed_at))).collect()
}

/// The removals of one compaction, made at that time.
pub fn removals_of(epoch: &Epoch, at: Option<i64>) -> impl Iterator<Item = (EntryKey, Removal)> {
    epoch.edits.iter().flat_map(move |edit| {
        let into = edit.into.and_then(|index| epoch.synthetics.get(index as usize));
        let into = into.map(|synthetic| Arc::clone(&synthetic.message.id.0));
        let removed = edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. }));
        removed.map(move |change| (change.entry(), (at, into.clone())))
    })
}

/// Some messages of a stored session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Messages {
    /// The version of the session that they belong to: numbers of another version may mean other messages.
    pub version: u64,
    /// The number of messages on all pages.
    pub total: u32,
    /// The messages of this page.
    pub messages: Vec<StoredMessage>,
}

/// When a compaction of a stored session was made, in milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EpochTimes {
    /// When it was stored.
    pub committed_at: i64,
    /// When it was undone, where it was.
    pub undone_at: Option<i64>,
}

/// The state of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// The kind of database: `sqlite`, `postgres`.
    pub backend: &'static str,
    /// The version of its tables.
    pub schema: u32,
    /// The time of a query, in microseconds.
    pub microseconds: u64,
}
