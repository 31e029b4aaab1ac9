//! Sessions, their archives and memories on disk, safe against crashes.
//!
//! [`SessionFile`] keeps one session in one file, [`SessionArchive`] is the archive of a stored session,
//! [`MemoryStore`] and [`FileMemories`] keep facts beyond a session, and [`extract`] finds these facts.
//!
//! A service keeps many sessions of several tenants, with its memories, agents and channels, in a [`Store`]: in embedded
//! SQLite (feature `sqlite`, on by default) or in PostgreSQL (feature `postgres`), by the address that it is opened with.
//!
//! ```
//! use epitome_session::{Message, Origin, Role, Session};
//! use epitome_store::{SessionArchive, SessionFile, StoreError};
//!
//! # fn main() -> Result<(), StoreError> {
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("session.jsonl");
//! let (mut session, mut archive) = (Session::new(), SessionArchive::new());
//! let mut file = SessionFile::create(&path, &session, &mut archive)?;
//! session.push(Message::text("", Role::User, Origin::Typed, "Good morning!"));
//! if let Some(message) = session.log().last() {
//!     file.append(message)?;
//! }
//! // After a compaction with this archive: file.commit(&session, &mut archive)?
//! drop(file);
//! let (file, opened) = SessionFile::open(&path)?;
//! assert_eq!(opened.session.state_hash(), session.state_hash());
//! # Ok(())
//! # }
//! ```
//!
//! # The file of a session
//!
//! A file is UTF-8 text of lines; each line is one JSON value and ends with a line feed (`\n`, the last one too). Numbers
//! count from 0: message 3 is the fourth message record of the file, epoch 0 its first compaction. Lines are only ever
//! appended; a file that is written whole gets its name when it is finished.
//!
//! The first line is the header, `{"epitome":1,"id":"…"}`: the version of this format, and the session's id where it has
//! one. A reader refuses a greater version. Every other line is an object of one key, which says what it is:
//!
//! ```text
//! {"tools":"[…]"}           the tool definitions from here on, as a string of JSON; null for none
//! {"message":{…}}           a message was pushed to the log
//! {"archived":{…}}          an item of the archive, part of the next compaction record
//! {"compaction":{"items":2,"epoch":{…}}}   an epoch was committed, with the two archived lines in front of it
//! {"undo":0}                epoch 0 was undone
//! ```
//!
//! Doing this again in the order of the lines (`Session::push`, `commit`, `undo`) gives the session: the same log, journal,
//! view and state hash. Messages and epochs are written as the types of `epitome-session` serialize:
//!
//! ```text
//! message  {"id":"m0","role":"user","origin":"typed","blocks":[{"content":{"type":"text","text":"Good morning!"}}]}
//! epoch    {"id":0,"origin":"engine","trigger":"manual","log_length":120,"tokens_before":…,"tokens_after":…,
//!           "edits":[{"kind":"drop","strategy":"…","reason":{…},"recall":"ada05326","changes":[…],…}],
//!           "synthetics":[{"position":{…},"message":{…}}],"undone":false}
//! ```
//!
//! An epoch's `id` is the number of epochs in front of it and its `log_length` the number of messages in front of it;
//! `undone` is false, because `undo` records carry that. An archived item has its `handle` and one of these contents:
//!
//! ```text
//! "block":[12,0]            the text of block 0 of message 12: of a text, of thinking, of a tool's result, or the arguments
//!                           of a call
//! "text":"…"                a text that stands nowhere else
//! "messages":[…]            messages in this order, each part one of
//!   {"log":[1,161]}         messages 1 up to and without 161
//!   {"added":[0,1]}         addition 1 (`synthetics`) of epoch 0
//!   {"inline":{…}}          a message that stands nowhere else
//! ```
//!
//! References may point to any line of the file, so they are followed when all of it is read. A handle is the first 8
//! hexadecimal digits of the BLAKE3 hash of the content, more where two contents share them
//! ([`epitome_strategy::archive::handles`]).
//!
//! **What may be at the end.** The records of one write, a message or the archived items with their compaction, are
//! there whole or the write never happened. So a reader leaves out, at the end of the file only: a line without a line
//! feed, a line that is not JSON, archived lines without their compaction, and all lines of a compaction of which one
//! is not JSON. [`SessionFile::open`] cuts them off and says so. Anything like this in front of other records is
//! damage, and so is a record of an unknown kind: a reader says in which line, and stops.
//!
//! **When it is on the disk.** Compactions and undos when their call returns; messages when
//! [`SessionFile::set_sync_appends`] asks for it, else when the next of these, or [`SessionFile::sync`], is done.
//!
//! **Locks.** Who writes holds the system's exclusive lock on the file (`flock`, `LockFileEx`); a second writer is refused.
//!
//! # The file of memories
//!
//! The same kind of file: a header `{"epitome_memories":1}`, then `{"memory":{"text":"…","kind":"decision","session":"…",
//! "message":"…","time":1700000000000}}` and `{"forget":"id"}`, with the id of [`Memory::id`]. `session` and `time`
//! (milliseconds since 1970 UTC) may be missing. Lines of earlier versions forget by the hash of the text alone. The lock is
//! held for each write, so that processes may share it.
//!
//! # The database
//!
//! The tables are those of `migrations/sqlite` and `migrations/postgres`: the same but for the names of types, and for the
//! tables through which instances on one PostgreSQL database tell each other of events and requests ([`Exchange`]). A
//! session is stored as its file is: what happened to it, in order. Messages of the log, epochs and undos carry the
//! `sequence` at which they happened, bodies are the JSON of the records above, and loading does everything again. All
//! else in the tables is derived in the same transaction, for queries from outside: which messages are compacted
//! (`compacted_at`, `compacted_into`, `is_summary`), and a receipt for every change of every epoch. An undo clears
//! these marks and removes the messages that its epoch had added; their text is in the epoch's body.
//!
//! `sessions.version` counts what happened. Every change is one transaction that begins by raising it from the version
//! that the host expects; where it is another, nothing is changed. That holds for every writer, with or without
//! [`Store::lock`], which saves its users work that would come too late.
//!
//! Keys of channels are references ([`KeyReference`]); settings in which something looks like a secret are refused.

mod archive;
mod checkpoint;
mod data;
mod disk;
mod error;
mod extract;
mod file_memories;
mod lines;
#[cfg_attr(not(any(feature = "sqlite", feature = "postgres")), allow(dead_code, reason = "databases lock"))]
mod lock;
mod memory;
mod record;
mod relevant_memories;
mod replay;
mod session_file;
mod settings;
#[cfg_attr(not(any(feature = "sqlite", feature = "postgres")), allow(dead_code, reason = "databases run statements"))]
mod sql;
mod steps;
mod tenant;
mod tenant_memories;

pub use archive::SessionArchive;
pub use checkpoint::{Checkpoint, successor_id};
pub use data::{
    EpochTimes, Health, Messages, Page, Paging, Removal, SessionFilter, SessionInfo, SessionMetadata, Slice,
    StoredMessage, StoredSession, ViewKind, removals, removals_of,
};
pub use error::StoreError;
pub use extract::{LONGEST_MEMORY, extract};
pub use file_memories::FileMemories;
pub use lock::{CompactionMark, SessionLock};
pub use memory::{Memory, MemoryKind, MemoryStore, Scope, supersedes};
pub use relevant_memories::relevant_memories;
pub use session_file::{OpenedSession, SessionFile};
pub use settings::{Agent, Channel, KeyReference};
#[cfg(feature = "sqlite")]
pub use sql::SqliteSettings;
pub use sql::Store;
#[cfg(feature = "postgres")]
pub use sql::{EventFeed, EventPage, Exchange, FeedEvent, Grant, OutgoingEvent, PostgresSettings, Wakeups};
pub use tenant::{LONGEST_NAME, Tenant};
pub use tenant_memories::TenantMemories;
