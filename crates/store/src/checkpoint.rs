//! The state of a session before a change, by which the change is found and stored.

use std::sync::Arc;

use epitome_session::{Epoch, Message, Session};

use crate::tenant::Tenant;

/// The state of a session before a change: how many messages it had, which compactions, and which tools. The default is
/// that of an empty session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    pub(crate) messages: usize,
    /// For each compaction whether it was undone.
    pub(crate) undone: Vec<bool>,
    pub(crate) tools: Option<Arc<str>>,
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

/// Returns the id of the session that continues one in its present state, after a compaction that it needs was refused.
/// Another state has another successor; the same state always has the same.
pub fn successor_id(tenant: &Tenant, id: &str, session: &Session) -> Arc<str> {
    let mut hasher = blake3::Hasher::new();
    for part in [tenant.as_str().as_bytes(), id.as_bytes(), &session.state_hash()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    Arc::from(&hasher.finalize().to_hex()[..32])
}
