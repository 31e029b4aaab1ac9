//! Changing and reading sessions.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use epitome::engine::Check;
use epitome::live::ContextTokens;
use epitome::store::{SessionInfo, SessionLock, StoreError};
use epitome::strategy::Cancellation;
use tracing::Instrument;

use super::key::{SessionKey, hash_of};
use super::marks::CompactionUnderWay;
use super::opened::{CachedSession, SessionRuntime, keep_changes};
use super::queue::{QueuePlace, ReadAccess, SessionTurn};
use super::state::Sessions;
use crate::agents::runtime_for;
use crate::events::Announcer;
use crate::http::{ApiError, Problem};

/// The time for giving a lock back.
const RELEASE: Duration = Duration::from_secs(5);

/// Whether the session's own settings must work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsNeed {
    /// Required: compactions use the session's settings.
    OwnSettings,
    /// Not required: reading a session and appending to it work without them.
    Any,
}

/// A change of a session.
pub(crate) trait Operation: Send + Sync + 'static {
    /// The result of the change.
    type Output: Send + 'static;

    /// Makes the change. May be called once more with the session as another instance has stored it in between.
    fn run<'a>(
        &'a self,
        sessions: &'a Arc<Sessions>,
        opened: &'a mut CachedSession,
    ) -> impl Future<Output = Result<Self::Output, ApiError>> + Send + 'a;

    /// Whether it may wait for a model. Readers see the session as it was meanwhile.
    fn is_long(&self, _opened: &CachedSession) -> bool {
        false
    }

    /// Called with the result after it is stored.
    fn account(&self, _app: &Sessions, _output: &Self::Output) {}

    /// Whether it is refused where a compaction is under way.
    const IS_COMPACTION: bool = false;

    /// Whether the session's own settings must work for it.
    const NEEDS_SETTINGS: bool = true;
}

/// The result of an operation, with the session's figures after it is stored.
#[derive(Debug)]
pub(crate) struct OperationResult<T> {
    pub(super) value: T,
    pub(super) version: u64,
    pub(super) context: ContextTokens,
    pub(super) check: Check,
}

/// Works on a session when it is its turn, and stores it, as [`NamedSession`](super::NamedSession) says.
pub(super) async fn change_with<O: Operation, N>(
    sessions: &Arc<Sessions>,
    key: &SessionKey,
    prepared: impl Future<Output = Result<Result<O, N>, ApiError>>,
) -> Result<Result<OperationResult<O::Output>, N>, ApiError> {
    let place = sessions.queues.enter(key);
    let compacting = if O::IS_COMPACTION { Some(place.compacting()?) } else { None };
    let mut turn = Box::pin(acquire_turn(sessions, place));
    // Stands in the queue from here on.
    let at_once = poll_fn(|context| Poll::Ready(turn.as_mut().poll(context))).await;
    let operation = match prepared.await? {
        Ok(operation) => operation,
        Err(other) => return Ok(Err(other)),
    };
    let compacting = match compacting {
        Some(here) => Some(CompactionUnderWay::asked_for(sessions, key, here).await?),
        None => None,
    };
    let (turn, lock) = match at_once {
        Poll::Ready(turn) => turn?,
        Poll::Pending => turn.await?,
    };
    let (shared, session) = (Arc::clone(sessions), hash_of(key));
    let span = tracing::info_span!("session", %session);
    #[cfg(feature = "otel")]
    crate::telemetry::note_session(&span, &session);
    // On a task of its own: it runs to its end also when the caller has left.
    let (working, key) = (sessions.under_way.begin(), key.clone());
    let work = async move {
        let changed = work(&shared, &key, &turn, Arc::new(operation), compacting).await;
        // Before the lock: what the next holder tells is heard behind this, at whichever instance.
        shared.hub.flush().await;
        release_lock(lock).await;
        drop((turn, working));
        changed
    };
    let task = tokio::spawn(work.instrument(span));
    match tokio::time::timeout(sessions.core.settings.limits.session_timeout, task).await {
        Ok(done) => done.map_err(|_| Problem::Internal)?.map(Ok),
        Err(_) => {
            Err(Problem::Timeout.with("the work on the session goes on").with_help("its events say when it is done"))
        }
    }
}

/// Does something while no other request works on a session.
pub(super) async fn in_turn<T>(
    sessions: &Sessions,
    key: &SessionKey,
    work: impl Future<Output = T>,
) -> Result<T, ApiError> {
    let (turn, lock) = acquire_turn(sessions, sessions.queues.enter(key)).await?;
    let done = work.await;
    release_lock(lock).await;
    drop(turn);
    Ok(done)
}

/// Gives a session's lock back. A database that is gone has given it up itself.
async fn release_lock(lock: SessionLock) {
    if tokio::time::timeout(RELEASE, lock.release()).await.is_err() {
        tracing::warn!("a session's lock is given back without an answer");
    }
}

/// Waits until no other request works on a session, here or in another process.
async fn acquire_turn(sessions: &Sessions, place: QueuePlace) -> Result<(SessionTurn, SessionLock), ApiError> {
    let storage = sessions.storage()?;
    let started = Instant::now();
    let wait = async {
        let next = place.next().await?;
        let (tenant, id) = &next.place.key;
        let lock = storage.store.lock(tenant, id).await.map_err(|error| storage.api_error(error))?;
        Ok((next.turn().await, lock))
    };
    let waited = tokio::time::timeout(sessions.core.settings.limits.session_timeout, wait).await;
    sessions.core.metrics.lock_wait(started.elapsed());
    waited.unwrap_or_else(|_| {
        let help = "nothing was done; send it again when they are ready";
        Err(Problem::Timeout.with("others work on the session").with_help(help))
    })
}

/// Why an operation failed.
enum OperationError {
    /// It could not be done. The session is as it was, or is forgotten.
    Refused(ApiError),
    /// It could not be stored.
    Store(StoreError),
}

async fn work<O: Operation>(
    sessions: &Arc<Sessions>,
    key: &SessionKey,
    turn: &SessionTurn,
    operation: Arc<O>,
    mut compacting: Option<CompactionUnderWay>,
) -> Result<OperationResult<O::Output>, ApiError> {
    let storage = sessions.storage()?;
    let owner = key.0.name();
    let mut may_try_again = true;
    loop {
        let needs = if O::NEEDS_SETTINGS { SettingsNeed::OwnSettings } else { SettingsNeed::Any };
        let mut opened = sessions.open(key, needs).await?.0;
        let announcer = Announcer::new(&sessions.hub, key.0.as_str(), &key.1);
        let showing = if operation.is_long(&opened) {
            let copied = sessions.core.workers.run(&owner, move |_| (opened.copy(), opened)).await?;
            opened = copied.1;
            if compacting.is_none() {
                compacting = Some(CompactionUnderWay::possible(sessions, key).await?);
            }
            Some(turn.place.show(copied.0))
        } else {
            None
        };
        let before = Arc::new(opened.checkpoint());
        opened.live.listen(Some(announcer.listener()));
        let (shared, its_key, done_to, was) =
            (Arc::clone(sessions), key.clone(), Arc::clone(&operation), Arc::clone(&before));
        let store = storage.store.clone();
        let cancellation = Cancellation::new();
        opened.live.cancel_by(cancellation.clone());
        let worked = sessions.core.workers.run_future(&owner, &cancellation, async move {
            let done = match done_to.run(&shared, &mut opened).await {
                Ok(value) => match keep_changes(&store, &shared.drafts, &its_key, &mut opened, &was).await {
                    Ok(()) => Ok(value),
                    Err(error) => Err(OperationError::Store(error)),
                },
                Err(error) => Err(OperationError::Refused(error)),
            };
            opened.live.listen(None);
            opened.live.cancel_by(Cancellation::never());
            // The items archived for a compaction that was not made.
            opened.live.parts().1.discard_pending();
            (opened, done)
        });
        let (opened, done) = match worked.await {
            Ok(worked) => worked,
            Err(failed) => {
                // It panicked, and the session with it: the store has it as it was.
                announcer.announce_failure("the service failed; the session is as it was");
                return Err(failed.into());
            }
        };
        match done {
            Ok(value) => {
                operation.account(sessions, &value);
                let (version, context, check) = (opened.version, opened.live.context(), opened.live.check());
                sessions.cache.put(key, opened);
                // Whoever hears that it is done finds it done.
                drop(showing);
                if let Some(compacting) = compacting.take() {
                    compacting.end().await;
                }
                announcer.announce_stored();
                return Ok(OperationResult { value, version, context, check });
            }
            Err(OperationError::Refused(error)) if opened.checkpoint() == *before => {
                sessions.cache.put(key, opened);
                drop(showing);
                if let Some(compacting) = compacting.take() {
                    compacting.end().await;
                }
                announcer.announce_stored();
                return Err(error);
            }
            // The result of an incomplete operation is not kept.
            Err(OperationError::Refused(error)) => {
                announcer.announce_failure(&error.message);
                return Err(error);
            }
            Err(OperationError::Store(StoreError::Conflict { .. })) if may_try_again => {
                // Listeners that received the start receive the failure of this attempt, before it begins again.
                announcer.announce_failure("another instance changed the session; it is done once more");
                may_try_again = false;
            }
            Err(OperationError::Store(error)) => {
                let error = storage.api_error(error);
                announcer.announce_failure(&error.message);
                return Err(error);
            }
        }
    }
}

/// A session for a reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionSnapshot<'a> {
    pub(super) opened: &'a CachedSession,
    pub(super) info: &'a SessionInfo,
    /// Whether a compaction is under way.
    pub(super) running: bool,
}

/// Looks at a session. Never waits for a compaction: that is shown the session as it was before.
pub(super) async fn read_at<T: Send + 'static>(
    sessions: &Arc<Sessions>,
    key: SessionKey,
    look: impl FnOnce(SessionSnapshot<'_>) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let info = sessions.info(&key).await?;
    let owner = key.0.name();
    match sessions.queues.enter(&key).look().await {
        ReadAccess::Shown(opened) => {
            sessions
                .core
                .workers
                .run(&owner, move |_| look(SessionSnapshot { opened: &opened, info: &info, running: true }))
                .await?
        }
        ReadAccess::Free(working) => {
            let (opened, info) = sessions.open(&key, SettingsNeed::Any).await?;
            let shared = Arc::clone(sessions);
            sessions
                .core
                .workers
                .run(&owner, move |_| {
                    let running = shared.queues.is_compacted(&key);
                    let seen = look(SessionSnapshot { opened: &opened, info: &info, running });
                    shared.cache.put(&key, opened);
                    drop(working);
                    seen
                })
                .await?
        }
    }
}

impl Sessions {
    /// The store's metadata of a session.
    pub(crate) async fn info(&self, (tenant, id): &SessionKey) -> Result<SessionInfo, ApiError> {
        let storage = self.storage()?;
        storage.store.session_info(tenant, id).await.map_err(|error| storage.api_error(error))
    }

    /// A session as it is stored, for the holder of its turn: from memory where that is current, else from the store.
    /// The caller puts it back into the cache.
    pub(super) async fn open(
        self: &Arc<Self>,
        key: &SessionKey,
        needs: SettingsNeed,
    ) -> Result<(CachedSession, SessionInfo), ApiError> {
        let info = self.info(key).await?;
        let owner = key.0.name();
        let settled = session_runtime(self, key, &info, needs).await?;
        let cached = self.cache.take(key).filter(|cached| cached.is_current(&info));
        let (shared, key, created_at) = (Arc::clone(self), key.clone(), info.created_at);
        let opened = match cached {
            Some(mut opened) if Arc::ptr_eq(&opened.runtime, &settled.runtime) => {
                opened.problem = settled.problem;
                opened
            }
            Some(mut opened) => {
                // The session's settings have changed since it was cached.
                let again = move |_: &Cancellation| {
                    opened.reconfigure(&shared.core, &key, settled);
                    opened
                };
                self.core.workers.run(&owner, again).await?
            }
            None => {
                let load = async move {
                    let storage = shared.storage()?;
                    let stored = storage.store.session(&key.0, &key.1).await;
                    let stored = stored.map_err(|error| storage.api_error(error))?;
                    let times = storage.store.epoch_times(&key.0, &key.1).await;
                    let times = times.map_err(|error| storage.api_error(error))?;
                    Ok::<_, ApiError>(CachedSession::new(&shared.core, &key, &settled, stored, created_at, times))
                };
                self.core.workers.run_future(&owner, &Cancellation::new(), load).await??
            }
        };
        Ok((opened, info))
    }
}

/// The runtime of a session: from its settings, or the service's own where these do not work and are not required.
async fn session_runtime(
    sessions: &Arc<Sessions>,
    key: &SessionKey,
    info: &SessionInfo,
    needs: SettingsNeed,
) -> Result<SessionRuntime, ApiError> {
    match runtime_for(&sessions.core, &sessions.runtimes, &key.0, &info.about).await {
        Ok(runtime) => Ok(SessionRuntime { runtime, problem: None }),
        // That the service is busy or the store is gone says nothing of the settings.
        Err(error) if needs == SettingsNeed::Any && error.problem.status().is_client_error() => {
            Ok(SessionRuntime { runtime: Arc::clone(&sessions.core.runtime), problem: Some(error.message) })
        }
        Err(error) => Err(error),
    }
}
