//! Shared by the agents' files that are appended to: whole lines, increasing times, ids made from the written content.

use epitome_session::{Epoch, Session, Trigger};

use super::records::newest_objects;
use crate::time;

/// Lines behind a file, each with a time of its own.
pub(crate) struct Lines {
    bytes: Vec<u8>,
    time: i64,
    hasher: blake3::Hasher,
}

impl Lines {
    /// Continues behind `bytes`, whose last record was written at `time`, in milliseconds. Ids made from here on depend on
    /// the file.
    pub(crate) fn after(bytes: &[u8], time: i64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytes);
        let mut bytes = bytes.to_vec();
        if !bytes.is_empty() && bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        Self { bytes, time, hasher }
    }

    /// Lets the ids depend on `content` too.
    pub(crate) fn mix(&mut self, content: &str) {
        self.hasher.update(content.as_bytes());
    }

    /// The next time: one millisecond on.
    pub(crate) fn next_time(&mut self) -> i64 {
        self.time += 1;
        self.time
    }

    /// 32 hexadecimal digits that no other call gives.
    pub(crate) fn next_id(&mut self) -> String {
        self.hasher.update(b"\0next");
        self.hasher.finalize().to_hex()[..32].to_owned()
    }

    /// An id in the form of a UUID (version 8: of its maker's own making).
    pub(crate) fn next_uuid(&mut self) -> String {
        let id = self.next_id();
        format!("{}-{}-8{}-a{}-{}", &id[..8], &id[8..12], &id[13..16], &id[17..20], &id[20..])
    }

    /// Appends a record. Line breaks in recorded JSON are white space between its tokens.
    pub(crate) fn push(&mut self, record: &str) {
        self.bytes.extend(record.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
        self.bytes.push(b'\n');
    }

    /// The file.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// The newest compaction in force; what a person keeps is none.
pub(crate) fn newest(session: &Session) -> Option<&Epoch> {
    session.journal().iter().rev().find(|epoch| !epoch.undone && epoch.trigger != Trigger::Kept)
}

/// Whether a person asked for the newest compaction.
pub(crate) fn is_manual(session: &Session) -> bool {
    newest(session).is_none_or(|epoch| epoch.trigger == Trigger::Manual)
}

/// The time of a file's newest record that has one; 0 where none has.
pub(crate) fn last_time(bytes: &[u8]) -> i64 {
    newest_objects(bytes).find_map(|record| time::parse(&record.text("timestamp")?)).unwrap_or(0)
}

/// The first time of a session, or the beginning of 2026 where it holds none: a new file needs one.
pub(crate) fn first_time(session: &Session) -> i64 {
    const UNKNOWN: i64 = 1_767_225_600_000;
    session.log().iter().find_map(|message| message.timestamp).unwrap_or(UNKNOWN)
}
