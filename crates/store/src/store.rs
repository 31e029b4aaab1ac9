//! What a service keeps: sessions with their archives, memories, agents and channels, of several tenants.

use std::fmt::{self, Debug};
use std::sync::Arc;

use epitome_session::{Message, Session};
use epitome_strategy::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::archive::SessionArchive;
use crate::error::StoreError;
use crate::lock::SessionLock;
use crate::memory::{Memory, Scope};
use crate::settings::{Agent, Channel};

/// The most characters of the name of a tenant, a session, an agent or a channel.
pub const LONGEST_NAME: usize = 200;

/// Whose data it is. Nothing of one tenant is ever visible to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The tenant of that name: 1 to [`LONGEST_NAME`] characters, no control characters.
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, StoreError> {
        let name = name.into();
        check_name("tenant", &name)?;
        Ok(Self(name))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its name, to keep.
    pub fn name(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Default for Tenant {
    /// The tenant of a service that has only one.
    fn default() -> Self {
        Self(Arc::from("default"))
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// An error where a name cannot be stored everywhere.
pub(crate) fn check_name(of: &'static str, name: &str) -> Result<(), StoreError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.chars().count() > LONGEST_NAME {
        "it is longer than 200 characters"
    } else if name.chars().any(char::is_control) {
        "it holds a control character"
    } else {
        return Ok(());
    };
    Err(StoreError::Name { of, name: name.chars().take(LONGEST_NAME).collect(), problem })
}

/// What a host keeps about a session beside the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionMetadata {
    /// The agent that it belongs to, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whatever else the host wants to know again. No secrets: they are refused ([`StoreError::Secret`]).
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub settings: serde_json::Value,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// Its id.
    pub id: Arc<str>,
    /// What the host keeps about it.
    #[serde(flatten)]
    pub about: SessionMetadata,
    /// How many changes it has seen: what the next one expects.
    pub version: u64,
    /// How many messages were said.
    pub messages: u32,
    /// How many compactions were made, undone ones included.
    pub epochs: u32,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

/// Which sessions are asked for: those that meet all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFilter {
    /// Those of this agent.
    pub agent: Option<String>,
    /// Those whose title holds this, in upper or lower case.
    pub title: Option<String>,
    /// Those that changed at this time or later.
    pub updated_since: Option<i64>,
}

/// Which part of a list is asked for, where the list goes on while it is read.
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
    /// What to ask for the next page with; `None` on the last one.
    pub next: Option<String>,
}

/// A stored session, as it was at one moment.
#[derive(Debug)]
pub struct StoredSession {
    /// The session; its id is the one that it is stored under.
    pub session: Session,
    /// Its archive.
    pub archive: SessionArchive,
    /// How many changes it had seen: what the next one expects.
    pub version: u64,
    /// What the host keeps about it.
    pub about: SessionMetadata,
}

/// Which of the two views of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ViewKind {
    /// What the model would see now.
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
pub struct StoredMessage {
    /// Its number in the log, from 0; `None` for what a compaction added.
    pub number: Option<u32>,
    /// The message, as the view shows it.
    pub message: Arc<Message>,
    /// Whether the view shows it otherwise than it was recorded: an excerpt, shortened arguments.
    pub is_edited: bool,
    /// Whether it is a summary.
    pub is_summary: bool,
    /// When it was compacted, in milliseconds since 1970-01-01 UTC; `None` while it is in the compacted view.
    pub compacted_at: Option<i64>,
    /// The id of the message that stands in its place, where one does.
    pub compacted_into: Option<Arc<str>>,
}

/// Some messages of a stored session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Messages {
    /// The version of the session that they belong to: numbers of another version may mean other messages.
    pub version: u64,
    /// How many messages there are on all pages.
    pub total: u32,
    /// Those that were asked for.
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

/// How a store is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// What keeps the data: `sqlite`, `postgres`.
    pub backend: &'static str,
    /// The version of its tables.
    pub schema: u32,
    /// How long it took to ask, in microseconds.
    pub microseconds: u64,
}

/// Keeps the sessions, memories, agents and channels of several tenants.
///
/// Sessions change only by the calls that take an `expected` version: when the session has another, they change
/// nothing and answer [`StoreError::Conflict`], and the host loads the session again. Each is done whole or not at all,
/// whatever happens to the process. They return the new version.
///
/// What a host does to its session in memory, it tells the store, in the same order: each message that was pushed, each
/// epoch that was committed, each undo. Or it lets the store find out what is new ([`save`](Self::save)). After an error it
/// loads the session again, unless it has kept it as it was before.
///
/// Futures may be dropped at any time; a change that was begun is then made or not.
///
#[cfg_attr(feature = "sqlite", doc = "```")]
#[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
/// use epitome_session::{Message, Origin, Role, Session};
/// use epitome_store::{SessionMetadata, SessionArchive, Slice, SqlStore, Store, StoreError, Tenant, ViewKind};
///
/// # async fn keep() -> Result<(), StoreError> {
/// let store = SqlStore::open("sqlite::memory:").await?; // or postgres://…, with that feature
/// let (tenant, about) = (Tenant::default(), SessionMetadata::default());
/// let (mut session, mut archive) = (Session::new(), SessionArchive::new());
/// let mut version = store.create_session(&tenant, "first", &about, &session, &mut archive).await?;
///
/// let lock = store.lock(&tenant, "first").await?; // for others who work on the session
/// session.push(Message::text("", Role::User, Origin::Typed, "Good morning!"));
/// version = store.append(&tenant, "first", version, session.log()).await?;
/// // After a compaction with this archive: store.commit(&tenant, "first", version, &session, &mut archive)
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
pub trait Store: Send + Sync + Debug {
    /// Stores a new session as it is, and returns its version. What the archive holds is stored with the epochs that name
    /// it, as [`SessionFile::create`](crate::SessionFile::create) does.
    ///
    /// Errors with [`StoreError::Taken`] where the tenant has a session of that id.
    fn create_session<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        about: &'a SessionMetadata,
        session: &'a Session,
        archive: &'a mut SessionArchive,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// The tenant's sessions, the last changed first.
    fn sessions<'a>(
        &'a self,
        tenant: &'a Tenant,
        filter: &'a SessionFilter,
        paging: &'a Paging,
    ) -> BoxFuture<'a, Result<Page<SessionInfo>, StoreError>>;

    /// What there is to know of a session without loading it. Constant time.
    fn session_info<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<SessionInfo, StoreError>>;

    /// Loads a session. Linear in it.
    fn session<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<StoredSession, StoreError>>;

    /// Changes what the host keeps about a session; its version stays.
    fn describe<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        about: &'a SessionMetadata,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Stores messages that were pushed to the session, in order, all or none. Costs the messages.
    fn append<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        messages: &'a [Arc<Message>],
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Stores the tool definitions of the session, or that it has none.
    fn set_tools<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        tools: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Stores the newest epoch of the session together with what is pending in the archive, all or nothing. Linear in the
    /// number of messages and in what was archived.
    ///
    /// Errors with [`StoreError::Mismatch`] where the session has another number of messages or epochs than the stored one
    /// would then have. When it fails, what is pending stays pending.
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        session: &'a Session,
        archive: &'a mut SessionArchive,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Stores that an epoch was undone, after [`Session::undo`] did it.
    fn undo<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        epoch: u32,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Stores everything that is new in a session since its version was the expected one: tool definitions, messages,
    /// epochs with what is pending in the archive, undos. All or nothing, in one change where the other calls are one for
    /// each; costs what is new, and the number of messages.
    ///
    /// Undos of epochs that were stored before count as made before what is new: the session comes back with the same log,
    /// journal, view and state hash.
    ///
    /// Errors with [`StoreError::Mismatch`] where the session does not go on where the stored one ends.
    fn save<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        expected: u64,
        session: &'a Session,
        archive: &'a mut SessionArchive,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Deletes a session with its archive, and the memories that are its alone. Whether there was one.
    fn delete_session<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Messages of a view of the session. The session is read and folded for it: linear in the session.
    fn view<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        kind: ViewKind,
        slice: Slice,
    ) -> BoxFuture<'a, Result<Messages, StoreError>>;

    /// The messages that were said and that a summary in force stands for, those behind earlier summaries included, in
    /// their order. Linear in what it stands for.
    fn behind<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
        summary: &'a str,
        slice: Slice,
    ) -> BoxFuture<'a, Result<Messages, StoreError>>;

    /// The newest summary in the compacted view, as it was written.
    fn latest_summary<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredMessage>, StoreError>>;

    /// When the session's compactions were made, in the order of their numbers. Linear in their number.
    fn epoch_times<'a>(&'a self, tenant: &'a Tenant, id: &'a str)
    -> BoxFuture<'a, Result<Vec<EpochTimes>, StoreError>>;

    /// Waits until nobody else holds the session's lock, and takes it. The lock is advisory: it keeps those apart who ask
    /// for it. Those who wait get it in the order in which they came, as far as one process goes.
    ///
    /// In SQLite it is one of this process; other processes on the same file are kept from harm by the versions alone. In
    /// PostgreSQL it is one of all instances.
    fn lock<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<SessionLock, StoreError>>;

    /// Stores memories that are not known yet, all or none, and says how many that were. What one of them
    /// [`supersedes`](crate::supersedes) is forgotten.
    fn remember<'a>(&'a self, tenant: &'a Tenant, memories: &'a [Memory]) -> BoxFuture<'a, Result<usize, StoreError>>;

    /// At most `most` memories, the last stored first.
    fn recent_memories<'a>(
        &'a self,
        tenant: &'a Tenant,
        scope: &'a Scope,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>>;

    /// At most `most` memories that hold one of the words, those with the most of them first, then the last stored.
    fn search_memories<'a>(
        &'a self,
        tenant: &'a Tenant,
        scope: &'a Scope,
        words: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>>;

    /// Forgets the memory of that id ([`Memory::id`]); whether there was one.
    fn forget_memory<'a>(&'a self, tenant: &'a Tenant, id: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Stores an agent, in place of the one of that name where there is one.
    fn put_agent<'a>(&'a self, tenant: &'a Tenant, agent: &'a Agent) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The tenant's agents, by name.
    fn agents<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<Agent>, StoreError>>;

    /// The tenant's agent of that name, where there is one. One row, whatever else there is.
    fn agent<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<Option<Agent>, StoreError>>;

    /// Deletes an agent; its sessions stay. Whether there was one.
    fn delete_agent<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Stores a channel, in place of the one of that name where there is one. A secret in it is refused
    /// ([`StoreError::Secret`]): a key is named by where it is ([`KeyReference`](crate::KeyReference)).
    fn put_channel<'a>(&'a self, tenant: &'a Tenant, channel: &'a Channel) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The tenant's channels, by name.
    fn channels<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<Channel>, StoreError>>;

    /// The tenant's channel of that name, where there is one. One row, whatever else there is.
    fn channel<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<Option<Channel>, StoreError>>;

    /// The id of a session of the tenant whose own settings ([`SessionMetadata::settings`]) have a `channel` of that name; `None` where
    /// no session has. Linear in the tenant's sessions.
    fn session_with_channel<'a>(
        &'a self,
        tenant: &'a Tenant,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, StoreError>>;

    /// Deletes a channel. Whether there was one.
    fn delete_channel<'a>(&'a self, tenant: &'a Tenant, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Asks the database something that it must answer at once. Errors where it does not.
    fn health(&self) -> BoxFuture<'_, Result<Health, StoreError>>;
}
