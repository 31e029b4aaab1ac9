//! Facts that outlive the context: taken before a compaction, brought back into its summary.

use epitome_store::extract;

use super::LiveSession;

/// The most facts that one compaction puts into the memory store: more are noise.
const MOST_MEMORIES: usize = 50;

impl LiveSession {
    /// Puts facts of the messages since the last flush into the memory store; how many were new. A store that fails is
    /// recorded, and the compaction goes on.
    pub(super) async fn flush_memories(&mut self) -> u32 {
        let Some((store, _)) = self.memories.clone().filter(|_| self.settings.memory_flush) else { return 0 };
        let messages = &self.session.log()[self.flushed.min(self.session.log().len())..];
        let facts = extract(messages, self.session.id.as_ref(), &self.engine.lexicon, MOST_MEMORIES);
        match store.remember(&facts).await {
            Ok(new) => {
                self.flushed = self.session.log().len();
                new as u32
            }
            Err(error) => {
                tracing::warn!(%error, "memories could not be stored");
                0
            }
        }
    }

    /// The newest memories, for the summary.
    pub(super) async fn recent_memories(&self) -> Vec<String> {
        let Some((store, scope)) = &self.memories else { return Vec::new() };
        let recent = store.recent(scope, self.settings.recent_memories as usize).await;
        match recent {
            Ok(memories) => memories.into_iter().map(|memory| memory.text).collect(),
            Err(error) => {
                tracing::warn!(%error, "memories could not be read");
                Vec::new()
            }
        }
    }
}
