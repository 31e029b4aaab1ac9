//! The state of a session before a change, by which the change is found and stored.

use std::sync::Arc;

use epitome_session::{Epoch, Message, Session};

use crate::archive::SessionArchive;
use crate::error::StoreError;
use crate::sql::Store;
use crate::tenant::Tenant;

/// The state of a session before a change: how many messages it had, which compactions, and which tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    messages: usize,
    undone: Vec<bool>,
    tools: Option<Arc<str>>,
}

impl Checkpoint {
    /// The state of a session now. Linear in the number of its compactions.
    pub fn new(session: &Session) -> Self {
        Self {
            messages: session.log().len(),
            undone: session.journal().iter().map(|epoch| epoch.undone).collect(),
            tools: session.tools.clone(),
        }
    }

    /// The messages that the session has gained since.
    pub fn new_messages<'a>(&self, session: &'a Session) -> &'a [Arc<Message>] {
        session.log().get(self.messages..).unwrap_or_default()
    }

    /// The compactions that the session has gained since.
    pub fn new_epochs<'a>(&self, session: &'a Session) -> &'a [Epoch] {
        session.journal().get(self.undone.len()..).unwrap_or_default()
    }

    /// The earlier compactions that were undone since.
    pub fn undone_epochs(&self, session: &Session) -> Vec<u32> {
        let earlier = session.journal().iter().zip(&self.undone);
        earlier.filter(|(epoch, was)| epoch.undone && !**was).map(|(epoch, _)| epoch.id).collect()
    }
}

impl Store {
    /// Stores the changes of a session since `before`, at which it had the expected version, in the cheapest way for them;
    /// nothing where there are none. All or nothing. Returns the new version.
    ///
    /// Errors are those of [`append`](Self::append), [`commit`](Self::commit), [`undo`](Self::undo) and
    /// [`save`](Self::save).
    pub async fn save_since(
        &self,
        tenant: &Tenant,
        id: &str,
        expected: u64,
        session: &Session,
        archive: &mut SessionArchive,
        before: &Checkpoint,
    ) -> Result<u64, StoreError> {
        let (messages, epochs) = (before.new_messages(session), before.new_epochs(session));
        match (messages, epochs, before.undone_epochs(session).as_slice(), session.tools != before.tools) {
            ([], [], [], false) => Ok(expected),
            (_, [], [], false) => self.append(tenant, id, expected, messages).await,
            ([], [epoch], [], false) if !epoch.undone => self.commit(tenant, id, expected, session, archive).await,
            ([], [], [epoch], false) => self.undo(tenant, id, expected, *epoch).await,
            ([], [], [], true) => self.set_tools(tenant, id, expected, session.tools.as_deref()).await,
            _ => self.save(tenant, id, expected, session, archive).await,
        }
    }
}

/// The id of the session that goes on in place of one in its present state, after a compaction that it needs was refused.
/// Another state has another successor; whoever asks again finds the same.
pub fn successor_id(tenant: &Tenant, id: &str, session: &Session) -> Arc<str> {
    let mut hasher = blake3::Hasher::new();
    for part in [tenant.as_str().as_bytes(), id.as_bytes(), &session.state_hash()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    Arc::from(&hasher.finalize().to_hex()[..32])
}
