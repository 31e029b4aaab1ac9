//! Memories of `epitome compact`: those of `[live] memory_file` appear in summaries again, and where `[live]
//! memory_flush` is set, facts are stored there before a session is written.

use std::path::Path;

use epitome::engine::block_on;
use epitome::store::{FileMemories, MemoryStore, Scope, extract};
use epitome::{Runtime, Session};

use crate::failure::Failure;
use crate::terminal;

/// The most facts that one compaction puts into the file: more are noise. As for live sessions.
const MOST_FACTS: usize = 50;

/// The file of memories, as far as the configuration names one.
#[derive(Debug)]
pub(crate) struct Memories {
    file: Option<FileMemories>,
    is_flushed: bool,
    recent: usize,
}

impl Memories {
    /// Opens the file that the configuration names, and says where it names none although facts are to be kept. A preview
    /// makes no file.
    pub(crate) fn open(runtime: &Runtime, is_preview: bool, quiet: bool) -> Result<Self, Failure> {
        let live = &runtime.live;
        let path = live.memory_file.as_deref().filter(|path| !is_preview || path.exists());
        if live.memory_flush && live.memory_file.is_none() && !quiet {
            terminal::note(
                "no memories are kept: [live] memory_flush is set, and [live] memory_file names no file for them",
            );
        }
        let open = |path: &Path| FileMemories::open(path).map_err(Failure::other);
        let file = path.map(open).transpose()?;
        Ok(Self { file, is_flushed: live.memory_flush && !is_preview, recent: live.recent_memories as usize })
    }

    /// The newest of them, for summaries.
    pub(crate) fn recent(&self) -> Result<Vec<String>, Failure> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let recent = block_on(file.recent(&Scope::All, self.recent)).map_err(Failure::other)?;
        Ok(recent.into_iter().map(|memory| memory.text).collect())
    }

    /// Stores the facts of a session since its newest compaction, which is about to be written; returns the number of
    /// new ones.
    pub(crate) fn flush(&self, session: &Session, runtime: &Runtime) -> Result<u32, Failure> {
        let Some(file) = self.file.as_ref().filter(|_| self.is_flushed) else { return Ok(0) };
        let mut earlier = session.journal().iter().rev().filter(|epoch| epoch.is_compaction()).skip(1);
        let first = earlier.next().map_or(0, |epoch| epoch.log_length as usize);
        let messages = session.log().get(first..).unwrap_or_default();
        let facts = extract(messages, session.id.as_ref(), &runtime.lexicon, MOST_FACTS);
        block_on(file.remember(&facts)).map(|new| new as u32).map_err(Failure::other)
    }
}
