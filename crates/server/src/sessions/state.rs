//! The state of kept sessions in this process.

use std::sync::Arc;

use super::cache::Cache;
use super::drafts::Drafts;
use super::indexes::Indexes;
use super::key::SessionKey;
use super::queue::SessionQueues;
use super::under_way::WorkCounter;
use crate::agents::RuntimeCache;
use crate::auth::Caller;
use crate::events::Hub;
use crate::http::ApiError;
use crate::state::Core;
use crate::storage::Storage;

/// The kept sessions, as far as this process works on them. Without a store there are none.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(crate) core: Arc<Core>,
    /// The events of sessions, for their listeners.
    pub(crate) hub: Arc<Hub>,
    /// The runtimes of sessions that have settings of their own.
    pub(super) runtimes: RuntimeCache,
    pub(super) queues: SessionQueues,
    pub(super) cache: Cache,
    pub(super) drafts: Drafts,
    pub(super) indexes: Indexes,
    pub(crate) under_way: WorkCounter,
}

impl Sessions {
    pub(crate) fn new(core: Arc<Core>, hub: Arc<Hub>) -> Arc<Self> {
        let memory = &core.settings.memory;
        Arc::new(Self {
            hub,
            runtimes: RuntimeCache::default(),
            queues: SessionQueues::default(),
            cache: Cache::new(memory.open_sessions, memory.open_bytes),
            drafts: Drafts::default(),
            indexes: Indexes::new(memory.open_bytes),
            under_way: WorkCounter::default(),
            core,
        })
    }

    /// Where they are kept. The error for a service without a store is 404.
    pub(super) fn storage(&self) -> Result<&Storage, ApiError> {
        self.core.storage()
    }

    /// The key of a caller's session. Errors where nothing is kept.
    pub(super) fn key(&self, caller: &Caller, id: &str) -> Result<SessionKey, ApiError> {
        Ok((self.storage()?.tenant(caller)?, Arc::from(id)))
    }

    /// The current figures of sessions: name, help and value of each gauge.
    pub(crate) fn gauges(&self) -> [(&'static str, &'static str, f64); 6] {
        let ((sessions, bytes), (busy, waiting)) = (self.cache.size(), self.queues.busy());
        let (indexes, index_bytes) = self.indexes.size();
        [
            ("epitome_open_sessions", "Kept sessions in memory.", sessions as f64),
            ("epitome_open_session_bytes", "Bytes that these take.", bytes as f64),
            ("epitome_indexes", "Kept sessions whose index is in memory.", indexes as f64),
            ("epitome_index_bytes", "Bytes that these take.", index_bytes as f64),
            ("epitome_busy_sessions", "Kept sessions that are worked on or waited for.", busy as f64),
            ("epitome_waiting_requests", "Requests that wait for their turn at a kept session.", waiting.into()),
        ]
    }
}
