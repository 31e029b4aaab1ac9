//! Facts that outlive the context: taken before a compaction, brought back into its texts.

use std::sync::Arc;

use epitome_engine::{Engine, MemoryNote};
use epitome_session::{Message, Session};
use epitome_store::{Memory, MemoryStore, Scope, StoreError, extract, relevant_memories};

use super::LiveSession;

/// The most facts that one compaction puts into the memory store: more are noise.
const MOST_MEMORIES: usize = 50;

/// The number of newest typed messages that show the current subject.
const LAST_TYPED: usize = 3;

/// Bytes of each of them that count: longer text is likely pasted.
const MOST_OF_A_MESSAGE: usize = 2_000;

/// Returns the memories of a session's messages from the given number on, which a compaction of `engine` puts into the memory
/// store: without secrets, unless these are to stay.
pub fn memories_of(session: &Session, from: usize, engine: &Engine) -> Vec<Memory> {
    let taken_back = session.taken_back();
    let said = session.log().iter().zip(0..).skip(from).filter(|(_, number)| !taken_back.contains(number));
    let messages: Vec<Arc<Message>> = said.map(|(message, _)| Arc::clone(message)).collect();
    let mut memories = extract(&messages, session.id.as_ref(), &engine.lexicon, MOST_MEMORIES);
    for memory in &mut memories {
        memory.text = engine.redacted(&memory.text).into_owned();
    }
    memories
}

/// Returns at most `most` memories that are relevant to the current subject of a session, for a compaction: to the focus, the task
/// and the last typed messages. `unstored` are those that the compaction is about to store.
pub async fn memories_for(
    store: Option<&dyn MemoryStore>,
    scope: &Scope,
    session: &Session,
    focus: Option<&str>,
    unstored: Vec<Memory>,
    most: usize,
) -> Result<Vec<MemoryNote>, StoreError> {
    let talk = subject(&session.standing_log(), focus);
    let memories = relevant_memories(store, scope, session.id.as_deref(), &talk, unstored, most).await?;
    Ok(memories.into_iter().map(|memory| MemoryNote { is_typed: memory.is_typed(), text: memory.text }).collect())
}

impl LiveSession {
    /// The memories of the messages since the last flush; none where the settings keep none.
    fn unstored_memories(&self) -> Vec<Memory> {
        if !self.settings.memory_flush {
            return Vec::new();
        }
        memories_of(&self.session, self.flushed, &self.engine)
    }

    /// Stores the facts of the messages since the last flush in the memory store, and returns the number of new ones. A
    /// failure of the store is recorded, and the compaction continues.
    pub(super) async fn flush_memories(&mut self) -> u32 {
        let Some((store, _)) = self.memories.clone().filter(|_| self.settings.memory_flush) else { return 0 };
        match store.remember(&self.unstored_memories()).await {
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

    /// The memories for the texts of a compaction. A failure of the store is recorded, and the compaction has none.
    pub(super) async fn memories_for(&self, focus: Option<&str>) -> Vec<MemoryNote> {
        let Some((store, scope)) = &self.memories else { return Vec::new() };
        let most = self.settings.recent_memories as usize;
        match memories_for(Some(store.as_ref()), scope, &self.session, focus, self.unstored_memories(), most).await {
            Ok(memories) => memories,
            Err(error) => {
                tracing::warn!(%error, "memories could not be read");
                Vec::new()
            }
        }
    }
}

/// The text that shows the current subject: the focus, the first and the last typed messages, each up to a bound.
fn subject(log: &[Arc<Message>], focus: Option<&str>) -> String {
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
