//! Turns at a session: one request after the other, in the order in which they came.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard, watch};

use super::key::SessionKey;
use super::opened::CachedSession;
use crate::http::{ApiError, Problem};

/// Requests that may wait for one session.
const MOST_WAITING: u32 = 64;

/// The place at which a session is worked on.
#[derive(Debug, Default)]
struct SessionQueue {
    /// Its holder is the next to change the session; it is passed on in the order of the requests.
    next: Arc<Turn<()>>,
    /// Its holder works on the session: changes or reads it.
    turn: Arc<Turn<()>>,
    /// The session as it was before the compaction under way, for readers.
    shown: watch::Sender<Option<Arc<CachedSession>>>,
    is_compacted: AtomicBool,
    waiting: AtomicU32,
}

impl SessionQueue {
    /// Whether a compaction was asked for or started by an automatic trigger, and has not ended.
    fn is_compacted(&self) -> bool {
        self.is_compacted.load(Ordering::Acquire) || self.shown.borrow().is_some()
    }
}

/// The queues of the sessions that requests work on or wait for.
#[derive(Debug, Default)]
pub(super) struct SessionQueues(Arc<QueueTable>);

/// The queues, each with how many are at it.
type QueueTable = Mutex<HashMap<SessionKey, (Arc<SessionQueue>, usize)>>;

/// A request's place at a session's queue, waiting or working. The last one that leaves removes the session_queue.
#[derive(Debug)]
pub(super) struct QueuePlace {
    session_queue: Arc<SessionQueue>,
    pub(super) key: SessionKey,
    known: Arc<QueueTable>,
}

/// The right to change the session next. Readers may still come before it.
#[derive(Debug)]
pub(super) struct NextTurn {
    pub(super) place: QueuePlace,
    turn: OwnedMutexGuard<()>,
}

/// The session's turn: its holder works on the session. Dropping it passes the turn to the next.
#[derive(Debug)]
pub(super) struct SessionTurn {
    pub(super) place: QueuePlace,
    _turn: OwnedMutexGuard<()>,
    /// Of those who change it.
    _next: Option<OwnedMutexGuard<()>>,
}

/// Marks a compaction, from the request to its end.
#[derive(Debug)]
pub(super) struct CompactionFlag(QueuePlace);

/// The access that a reader gets.
pub(super) enum ReadAccess {
    /// No request works on the session: the reader has its turn.
    Free(SessionTurn),
    /// It is being compacted; this is how it was before.
    Shown(Arc<CachedSession>),
}

impl SessionQueues {
    /// Enters a session's queue and returns the place in it.
    pub(super) fn enter(&self, key: &SessionKey) -> QueuePlace {
        let mut known = self.0.lock();
        let (session_queue, here) = known.entry(key.clone()).or_default();
        *here += 1;
        QueuePlace { session_queue: Arc::clone(session_queue), key: key.clone(), known: Arc::clone(&self.0) }
    }

    /// Whether a compaction of the session is under way.
    pub(super) fn is_compacted(&self, key: &SessionKey) -> bool {
        self.0.lock().get(key).is_some_and(|(session_queue, _)| session_queue.is_compacted())
    }

    /// The number of sessions that requests work on, and the number of requests that wait for one.
    pub(super) fn busy(&self) -> (usize, u32) {
        let known = self.0.lock();
        (known.len(), known.values().map(|(session_queue, _)| session_queue.waiting.load(Ordering::Relaxed)).sum())
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        let mut known = self.known.lock();
        let Some((_, here)) = known.get_mut(&self.key) else { return };
        *here -= 1;
        if *here == 0 {
            known.remove(&self.key);
        }
    }
}

impl Clone for QueuePlace {
    fn clone(&self) -> Self {
        if let Some((_, here)) = self.known.lock().get_mut(&self.key) {
            *here += 1;
        }
        Self { session_queue: Arc::clone(&self.session_queue), key: self.key.clone(), known: Arc::clone(&self.known) }
    }
}

impl QueuePlace {
    /// Waits to be the next who changes the session. Dropping the future is leaving the queue. Errors where too many wait
    /// already.
    pub(super) async fn next(self) -> Result<NextTurn, ApiError> {
        let waiting = WaiterCount::new(&self.session_queue)?;
        let turn = Arc::clone(&self.session_queue.next).lock_owned().await;
        drop(waiting);
        Ok(NextTurn { place: self, turn })
    }

    /// Waits until no request works on the session, or for the session as it was before the compaction under way.
    pub(super) async fn look(self) -> ReadAccess {
        let mut shown = self.session_queue.shown.subscribe();
        loop {
            if let Some(shown) = shown.borrow_and_update().clone() {
                return ReadAccess::Shown(shown);
            }
            tokio::select! {
                turn = Arc::clone(&self.session_queue.turn).lock_owned() => {
                    return ReadAccess::Free(SessionTurn { place: self, _turn: turn, _next: None });
                }
                // Somebody begins or ends a compaction.
                _ = shown.changed() => {}
            }
        }
    }

    /// Says that a compaction is asked for; an error where one is under way.
    pub(super) fn compacting(&self) -> Result<CompactionFlag, ApiError> {
        if self.session_queue.shown.borrow().is_some() || self.session_queue.is_compacted.swap(true, Ordering::AcqRel) {
            return Err(Problem::CompactionRunning.into());
        }
        Ok(CompactionFlag(self.clone()))
    }

    /// Shows the session as it is now to readers while it is compacted.
    pub(super) fn show(&self, session: CachedSession) -> SnapshotGuard {
        self.session_queue.shown.send_replace(Some(Arc::new(session)));
        SnapshotGuard(self.clone())
    }
}

impl NextTurn {
    /// Waits for the readers, which are soon done.
    pub(super) async fn turn(self) -> SessionTurn {
        let turn = Arc::clone(&self.place.session_queue.turn).lock_owned().await;
        SessionTurn { place: self.place, _turn: turn, _next: Some(self.turn) }
    }
}

/// Until it is dropped, readers see how the session was before.
#[derive(Debug)]
pub(super) struct SnapshotGuard(QueuePlace);

impl Drop for SnapshotGuard {
    fn drop(&mut self) {
        let was = self.0.session_queue.shown.send_replace(None);
        // A large session takes time to be dropped: not on the caller's time.
        if let Ok(threads) = tokio::runtime::Handle::try_current() {
            threads.spawn_blocking(move || drop(was));
        }
    }
}

impl Drop for CompactionFlag {
    fn drop(&mut self) {
        self.0.session_queue.is_compacted.store(false, Ordering::Release);
    }
}

/// A request that waits, as far as there is room.
struct WaiterCount<'a>(&'a SessionQueue);

impl<'a> WaiterCount<'a> {
    fn new(session_queue: &'a SessionQueue) -> Result<Self, ApiError> {
        let waiting = Self(session_queue);
        if session_queue.waiting.fetch_add(1, Ordering::Relaxed) < MOST_WAITING {
            return Ok(waiting);
        }
        Err(Problem::SessionBusy.with(format!("more than {MOST_WAITING} requests wait for this session")))
    }
}

impl Drop for WaiterCount<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
