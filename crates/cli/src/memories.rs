//! Memories of `epitome compact`: those of `[live] memory_file` appear in the texts of compactions again, and where `[live]
//! memory_flush` is set, facts are stored there before a session is written.

use std::path::Path;

use epitome::engine::{MemoryNote, block_on};
use epitome::live::{memories_for, memories_of};
use epitome::store::{FileMemories, Memory, MemoryStore, Scope};
use epitome::{Runtime, Session};

use crate::failure::Failure;
use crate::terminal;

/// The file of memories, as far as the configuration names one.
#[derive(Debug)]
pub(crate) struct Memories {
    file: Option<FileMemories>,
    is_flushed: bool,
}

impl Memories {
    /// Opens the file that the configuration names, and says where it names none although facts are to be kept. A preview
    /// makes no file.
    pub(crate) fn open(runtime: &Runtime, is_preview: bool, quiet: bool) -> Result<Self, Failure> {
        let live = &runtime.live;
        let path = live.memory_path().filter(|path| !is_preview || path.exists());
        if live.memory_flush && live.memory_path().is_none() && !quiet {
            terminal::note(
                "no memories are kept: [live] memory_flush is set, and [live] memory_file names no file for them",
            );
        }
        let open = |path: &Path| FileMemories::open(path).map_err(Failure::other);
        let file = path.map(open).transpose()?;
        Ok(Self { file, is_flushed: live.memory_flush && !is_preview })
    }

    /// The memories that are relevant to a session, for the texts of its compaction; what the compaction is about to store is among them.
    pub(crate) fn of(
        &self,
        session: &Session,
        runtime: &Runtime,
        focus: Option<&str>,
    ) -> Result<Vec<MemoryNote>, Failure> {
        let live = &runtime.live;
        if live.memory_path().is_none() {
            return Ok(Vec::new());
        }
        let unstored = if live.memory_flush { newest(session, runtime, 0) } else { Vec::new() };
        let store = self.file.as_ref().map(|file| file as &dyn MemoryStore);
        let found = memories_for(store, &Scope::All, session, focus, unstored, live.recent_memories as usize);
        block_on(found).map_err(Failure::other)
    }

    /// Stores the facts of a session since its newest compaction, which is about to be written; returns the number of
    /// new ones.
    pub(crate) fn flush(&self, session: &Session, runtime: &Runtime) -> Result<u32, Failure> {
        let Some(file) = self.file.as_ref().filter(|_| self.is_flushed) else { return Ok(0) };
        block_on(file.remember(&newest(session, runtime, 1))).map(|new| new as u32).map_err(Failure::other)
    }
}

/// The memories of the messages since a session's newest compaction, but for the `pending` ones that are not written yet.
fn newest(session: &Session, runtime: &Runtime, pending: usize) -> Vec<Memory> {
    let mut earlier = session.journal().iter().rev().filter(|epoch| epoch.is_compaction()).skip(pending);
    let first = earlier.next().map_or(0, |epoch| epoch.log_length as usize);
    memories_of(session, first, &runtime.base_engine)
}
