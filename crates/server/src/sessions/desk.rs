//! Who may work on a session: one after the other, in the order in which they came.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard, watch};

use super::key::SessionKey;
use super::opened::CachedSession;
use crate::http::ApiError;

/// Requests that may wait for one session.
const MOST_WAITING: u32 = 64;

/// The place at which a session is worked on.
#[derive(Debug, Default)]
struct SessionQueue {
    /// Who holds it is the next to change the session; it is handed on in the order in which it was asked for.
    queue: Arc<Turn<()>>,
    /// Who holds it has the session in hand, to change it or to look at it.
    turn: Arc<Turn<()>>,
    /// How the session was before a compaction that is under way, for those who only look.
    shown: watch::Sender<Option<Arc<CachedSession>>>,
    is_compacted: AtomicBool,
    waiting: AtomicU32,
}

impl SessionQueue {
    /// Whether somebody compacts, asked to or by itself.
    fn is_compacted(&self) -> bool {
        self.is_compacted.load(Ordering::Acquire) || self.shown.borrow().is_some()
    }
}

/// The desks of the sessions that somebody works on, or waits for.
#[derive(Debug, Default)]
pub(super) struct SessionQueues(Arc<QueueTable>);

/// The desks, each with how many are at it.
type QueueTable = Mutex<HashMap<SessionKey, (Arc<SessionQueue>, usize)>>;

/// Being at a session's desk, waiting or working. The last who leaves clears it away.
#[derive(Debug)]
pub(super) struct QueuePlace {
    desk: Arc<SessionQueue>,
    pub(super) key: SessionKey,
    known: Arc<QueueTable>,
}

/// Being the next to change the session. Those who look are not kept from it yet.
#[derive(Debug)]
pub(super) struct NextTurn {
    pub(super) place: QueuePlace,
    turn: OwnedMutexGuard<()>,
}

/// Being the one who has the session in hand. Gives the turn to the next when it is dropped.
#[derive(Debug)]
pub(super) struct SessionTurn {
    pub(super) place: QueuePlace,
    _turn: OwnedMutexGuard<()>,
    /// Of those who change it.
    _next: Option<OwnedMutexGuard<()>>,
}

/// Being the one who compacts, from asking for it to its end.
#[derive(Debug)]
pub(super) struct CompactionFlag(QueuePlace);

/// What there is for somebody who only looks.
pub(super) enum ReadAccess {
    /// Nobody works on the session: it is theirs for a moment.
    Free(SessionTurn),
    /// It is being compacted; this is how it was before.
    Shown(Arc<CachedSession>),
}

fn lock(known: &QueueTable) -> MutexGuard<'_, HashMap<SessionKey, (Arc<SessionQueue>, usize)>> {
    // The map is whole between any two statements that can panic.
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionQueues {
    /// Goes to a session's desk.
    pub(super) fn go_to(&self, key: &SessionKey) -> QueuePlace {
        let mut known = lock(&self.0);
        let (desk, here) = known.entry(key.clone()).or_default();
        *here += 1;
        QueuePlace { desk: Arc::clone(desk), key: key.clone(), known: Arc::clone(&self.0) }
    }

    /// Whether a compaction of the session is under way.
    pub(super) fn is_compacted(&self, key: &SessionKey) -> bool {
        lock(&self.0).get(key).is_some_and(|(desk, _)| desk.is_compacted())
    }

    /// How many sessions somebody works on, and how many requests wait for one.
    pub(super) fn busy(&self) -> (usize, u32) {
        let known = lock(&self.0);
        (known.len(), known.values().map(|(desk, _)| desk.waiting.load(Ordering::Relaxed)).sum())
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        let mut known = lock(&self.known);
        let Some((_, here)) = known.get_mut(&self.key) else { return };
        *here -= 1;
        if *here == 0 {
            known.remove(&self.key);
        }
    }
}

impl Clone for QueuePlace {
    fn clone(&self) -> Self {
        if let Some((_, here)) = lock(&self.known).get_mut(&self.key) {
            *here += 1;
        }
        Self { desk: Arc::clone(&self.desk), key: self.key.clone(), known: Arc::clone(&self.known) }
    }
}

impl QueuePlace {
    /// Waits to be the next who changes the session. Dropping the future is leaving the queue. Errors where too many wait
    /// already.
    pub(super) async fn next(self) -> Result<NextTurn, ApiError> {
        let waiting = WaiterCount::new(&self.desk)?;
        let turn = Arc::clone(&self.desk.queue).lock_owned().await;
        drop(waiting);
        Ok(NextTurn { place: self, turn })
    }

    /// Waits until nobody works, or for a session as it was before the compaction that somebody is at.
    pub(super) async fn look(self) -> ReadAccess {
        let mut shown = self.desk.shown.subscribe();
        loop {
            if let Some(shown) = shown.borrow_and_update().clone() {
                return ReadAccess::Shown(shown);
            }
            tokio::select! {
                turn = Arc::clone(&self.desk.turn).lock_owned() => {
                    return ReadAccess::Free(SessionTurn { place: self, _turn: turn, _next: None });
                }
                // Somebody begins or ends a compaction.
                _ = shown.changed() => {}
            }
        }
    }

    /// Says that a compaction is asked for; an error where one is under way.
    pub(super) fn compacting(&self) -> Result<CompactionFlag, ApiError> {
        if self.desk.shown.borrow().is_some() || self.desk.is_compacted.swap(true, Ordering::AcqRel) {
            let message = "a compaction of this session is under way";
            let help = "its events tell when it is done; GET /v1/sessions/{id} says `running` until then";
            return Err(ApiError::new(StatusCode::CONFLICT, "compaction-running", message, help));
        }
        Ok(CompactionFlag(self.clone()))
    }

    /// Shows the session as it is now to those who look while it is compacted.
    pub(super) fn show(&self, session: CachedSession) -> SnapshotGuard {
        self.desk.shown.send_replace(Some(Arc::new(session)));
        SnapshotGuard(self.clone())
    }
}

impl NextTurn {
    /// Waits for those who look, who are soon done.
    pub(super) async fn turn(self) -> SessionTurn {
        let turn = Arc::clone(&self.place.desk.turn).lock_owned().await;
        SessionTurn { place: self.place, _turn: turn, _next: Some(self.turn) }
    }
}

/// Until it is dropped, those who look see how the session was before.
#[derive(Debug)]
pub(super) struct SnapshotGuard(QueuePlace);

impl Drop for SnapshotGuard {
    fn drop(&mut self) {
        let was = self.0.desk.shown.send_replace(None);
        // Dropping a large session takes its time, and nobody waits for it.
        if let Ok(threads) = tokio::runtime::Handle::try_current() {
            threads.spawn_blocking(move || drop(was));
        }
    }
}

impl Drop for CompactionFlag {
    fn drop(&mut self) {
        self.0.desk.is_compacted.store(false, Ordering::Release);
    }
}

/// One of those who wait, as far as there is room.
struct WaiterCount<'a>(&'a SessionQueue);

impl<'a> WaiterCount<'a> {
    fn new(desk: &'a SessionQueue) -> Result<Self, ApiError> {
        let waiting = Self(desk);
        if desk.waiting.fetch_add(1, Ordering::Relaxed) < MOST_WAITING {
            return Ok(waiting);
        }
        let message = format!("more than {MOST_WAITING} requests wait for this session");
        let help = "wait for the answer to a request before the next one is sent";
        let busy = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "session-busy", message, help);
        Err(busy.retry_after(std::time::Duration::from_secs(1)))
    }
}

impl Drop for WaiterCount<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
