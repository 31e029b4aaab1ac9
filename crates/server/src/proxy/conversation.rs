//! A conversation that one request at a time works on.

use std::sync::Arc;

use epitome_fit::conversation::{Conversation, Slot};
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard};

/// A conversation that one request at a time works on. Clones are the same conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedConversation(Arc<Mutex<Conversation>>);

impl Slot for SharedConversation {
    fn new(conversation: Conversation) -> Self {
        Self(Arc::new(Mutex::new(conversation)))
    }
}

impl SharedConversation {
    /// Waits for a turn at it.
    pub(super) async fn lock(&self) -> OwnedMutexGuard<Conversation> {
        Arc::clone(&self.0).lock_owned().await
    }

    /// The same on a thread that may wait.
    pub(super) fn blocking_lock(&self) -> MutexGuard<'_, Conversation> {
        self.0.blocking_lock()
    }
}
