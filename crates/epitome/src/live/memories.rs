//! Facts that outlive the context: taken before a compaction, brought back into its summary.

use epitome_store::{bearing_on, extract};

use super::LiveSession;

/// The most facts that one compaction puts into the memory store: more are noise.
const MOST_MEMORIES: usize = 50;

/// The number of newest typed messages that show the current subject.
const LAST_TYPED: usize = 3;

/// Bytes of each of them that count: longer text is likely pasted.
const MOST_OF_A_MESSAGE: usize = 2_000;

impl LiveSession {
    /// Stores the facts of the messages since the last flush in the memory store, and returns the number of new ones. A
    /// failure of the store is recorded, and the compaction continues.
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

    /// The memories that bear on the current subject, for the summary: on the focus, the task and the last typed
    /// messages.
    pub(super) async fn memories_for(&self, focus: Option<&str>) -> Vec<String> {
        let Some((store, scope)) = &self.memories else { return Vec::new() };
        let most = self.settings.recent_memories as usize;
        let talk = self.talk(focus);
        match bearing_on(store.as_ref(), scope, self.session.id.as_deref(), &talk, most).await {
            Ok(memories) => memories.into_iter().map(|memory| memory.text).collect(),
            Err(error) => {
                tracing::warn!(%error, "memories could not be read");
                Vec::new()
            }
        }
    }

    /// The text that shows the current subject: the focus, the first and the last typed messages, each up to a bound.
    fn talk(&self, focus: Option<&str>) -> String {
        let log = self.session.log();
        let first = log.iter().position(|message| message.is_typed());
        let last = log.iter().enumerate().rev().filter(|(_, message)| message.is_typed()).take(LAST_TYPED);
        let typed = last.map(|(index, _)| index).chain(first);
        let mut talk = focus.unwrap_or_default().to_owned();
        for index in typed {
            let text = log[index].plain_text();
            talk.push('\n');
            talk.push_str(&text[..text.floor_char_boundary(MOST_OF_A_MESSAGE)]);
        }
        talk
    }
}
