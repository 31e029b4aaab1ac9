//! Sessions in memory: made of what the store has, and stored again.

use std::collections::HashMap;
use std::sync::Arc;

use epitome::Runtime;
use epitome::live::{LiveSession, Preparation};
use epitome::session::EntryKey;
use epitome::store::{
    Checkpoint, EpochTimes, Removal, Scope, SessionInfo, Store, StoreError, StoredSession, TenantMemories, removals,
};
use epitome::strategy::Verdict;
use parking_lot::Mutex;

use super::drafts::Drafts;
use super::key::SessionKey;
use crate::background::BackgroundThreads;
use crate::state::Core;
use epitome_fit::{epoch_bytes, message_bytes};

/// A session in memory, as it is stored.
#[derive(Debug)]
pub(crate) struct CachedSession {
    pub(super) live: LiveSession,
    /// The version that it has in the store.
    pub(super) version: u64,
    /// When it was made: an id may be given again.
    created_at: i64,
    pub(super) runtime: Arc<Runtime>,
    /// Why its own settings do not work, where the service's own are used instead.
    pub(super) problem: Option<String>,
    /// When its compactions were made.
    times: Vec<EpochTimes>,
    bytes: usize,
    /// The detected task type, and the version of the session at that time.
    task: Mutex<Option<(u64, Verdict)>>,
}

impl CachedSession {
    /// A session of the store. Linear in it.
    pub(super) fn new(
        core: &Core,
        key: &SessionKey,
        SessionRuntime { runtime, problem }: &SessionRuntime,
        stored: StoredSession,
        created_at: i64,
        times: Vec<EpochTimes>,
    ) -> Self {
        let log: usize = stored.session.log().iter().map(|message| message_bytes(message)).sum();
        let journal: usize = stored.session.journal().iter().map(epoch_bytes).sum();
        let mut live = LiveSession::resume(runtime, stored.session, stored.archive);
        live.count_into(Arc::clone(&core.metrics.kept));
        prepare_ahead(&mut live, runtime);
        remember(core, key, &mut live, runtime);
        let (runtime, problem) = (Arc::clone(runtime), problem.clone());
        let (version, bytes) = (stored.version, log + journal);
        Self { live, version, created_at, runtime, problem, times, bytes, task: Mutex::default() }
    }

    /// Goes on under other settings. Linear in the view.
    pub(super) fn reconfigure(&mut self, core: &Core, key: &SessionKey, settled: SessionRuntime) {
        self.live.reconfigure(&settled.runtime);
        prepare_ahead(&mut self.live, &settled.runtime);
        remember(core, key, &mut self.live, &settled.runtime);
        SessionRuntime { runtime: self.runtime, problem: self.problem } = settled;
        self.task = Mutex::default();
    }

    /// Bytes that it takes, near enough.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + size_of::<Self>()
    }

    /// A copy for readers. Linear in the number of messages.
    pub(super) fn copy(&self) -> Self {
        Self {
            live: self.live.copy(),
            version: self.version,
            created_at: self.created_at,
            runtime: Arc::clone(&self.runtime),
            problem: self.problem.clone(),
            times: self.times.clone(),
            bytes: self.bytes,
            task: Mutex::default(),
        }
    }

    /// When a compaction was made, where that is known.
    pub(super) fn times(&self, epoch: u32) -> Option<EpochTimes> {
        self.times.get(epoch as usize).copied()
    }

    /// The messages that left the context with compactions in force. Linear in the changes.
    pub(super) fn removals(&self) -> HashMap<EntryKey, Removal> {
        removals(self.live.session(), &self.times)
    }

    /// Whether it is the session that the store's metadata describes.
    pub(super) fn is_current(&self, info: &SessionInfo) -> bool {
        let has_times = self.times.len() == self.live.session().journal().len();
        self.version == info.version && self.created_at == info.created_at && has_times
    }

    /// The task type. Linear in the view when it has changed, constant time after that.
    pub(super) fn task(&self) -> Verdict {
        let mut known = self.task.lock();
        match &*known {
            Some((at, verdict)) if *at == self.version => verdict.clone(),
            _ => known.insert((self.version, self.live.task())).1.clone(),
        }
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint::new(self.live.session())
    }
}

/// The runtime of a session.
#[derive(Debug)]
pub(super) struct SessionRuntime {
    pub(super) runtime: Arc<Runtime>,
    /// Why the session's own settings do not work, where this is the service's own runtime instead.
    pub(super) problem: Option<String>,
}

/// Compactions that a model writes are prepared before they are due, where the settings say so.
fn prepare_ahead(live: &mut LiveSession, runtime: &Runtime) {
    if let Some(threads) = BackgroundThreads::here().filter(|_| runtime.background) {
        live.prepare_in(Arc::new(threads), Preparation::default());
    }
}

/// Facts worth keeping go to the tenant's memories, where the settings say so.
fn remember(core: &Core, key: &SessionKey, live: &mut LiveSession, runtime: &Runtime) {
    if runtime.live.memory_flush
        && let Ok(storage) = core.storage()
    {
        let memories = TenantMemories::new(storage.store.clone(), key.0.clone());
        live.remember_in(Arc::new(memories), Scope::Session(Arc::clone(&key.1)));
    }
}

/// Stores the changes of a session. Previews of the earlier state become invalid.
pub(super) async fn keep_changes(
    store: &Store,
    drafts: &Drafts,
    key: &SessionKey,
    opened: &mut CachedSession,
    before: &Checkpoint,
) -> Result<(), StoreError> {
    let ((tenant, id), version) = (key, opened.version);
    let (session, archive) = opened.live.parts();
    let epochs = before.new_epochs(session);
    let bytes = before.new_messages(session).iter().map(|message| message_bytes(message)).sum::<usize>()
        + epochs.iter().map(epoch_bytes).sum::<usize>();
    let has_other_epochs = !epochs.is_empty() || !before.undone_epochs(session).is_empty();
    opened.version = store.save(tenant, id, version, session, archive, before).await?;
    opened.bytes += bytes;
    if opened.version != version {
        drafts.pass(key, opened.live.session().state_hash());
    }
    if has_other_epochs {
        // It is stored, whatever becomes of this: without its times the session is read again when it is asked for.
        opened.times = store.epoch_times(tenant, id).await.unwrap_or_default();
    }
    Ok(())
}
