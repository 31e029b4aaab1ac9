//! A conversation that one request at a time works on.

use std::sync::Arc;

use epitome_fit::conversation::{Conversation, Slot};
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard};

use super::account::Account;

/// A conversation that one request at a time works on, and its account, for which nobody waits. Clones are the same
/// conversation.
#[derive(Debug, Clone)]
pub(crate) struct SharedConversation {
    turn: Arc<Mutex<Conversation>>,
    account: Arc<parking_lot::Mutex<Account>>,
}

impl Slot for SharedConversation {
    fn new(conversation: Conversation) -> Self {
        let account = Account { bill: conversation.bill.clone(), ..Account::default() };
        Self { turn: Arc::new(Mutex::new(conversation)), account: Arc::new(parking_lot::Mutex::new(account)) }
    }
}

impl Default for SharedConversation {
    fn default() -> Self {
        Self::new(Conversation::default())
    }
}

impl SharedConversation {
    /// Waits for a turn at it.
    pub(super) async fn lock(&self) -> OwnedMutexGuard<Conversation> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// The same on a thread that may wait.
    pub(super) fn blocking_lock(&self) -> MutexGuard<'_, Conversation> {
        self.turn.blocking_lock()
    }

    /// The sums of its requests.
    pub(super) fn account(&self) -> parking_lot::MutexGuard<'_, Account> {
        self.account.lock()
    }
}
