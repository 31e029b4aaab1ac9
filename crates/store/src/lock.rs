//! Locks of sessions: one holder at a time works on a session, the others wait.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use epitome_strategy::{async_trait, lock};
use tokio::sync::OwnedMutexGuard;
use tokio::task::unconstrained;

/// A session's lock while it is held. It is released when the value is dropped, when the process ends, and when the
/// connection to the database that holds the locks breaks. In the last case another holder may get it before this value
/// is dropped: of the two, the one that changes the session second gets a conflict
/// ([`StoreError::Conflict`](crate::StoreError::Conflict)).
#[derive(Debug)]
pub struct SessionLock {
    // Dropped first: a waiter in this process then finds the lock free with the other instances too.
    elsewhere: Option<Box<dyn ExternalLock>>,
    _here: LocalLock,
}

/// A lock that other processes see too.
#[async_trait]
pub(crate) trait ExternalLock: Send + Sync + Debug {
    /// Gives the lock back and waits until that is done. Dropping it gives it back at some later time.
    async fn release(self: Box<Self>);
}

impl SessionLock {
    pub(crate) fn new(here: LocalLock, elsewhere: Option<Box<dyn ExternalLock>>) -> Self {
        Self { elsewhere, _here: here }
    }

    /// Gives the lock back, and returns when others can have it. Dropping it does the same without waiting.
    pub async fn release(mut self) {
        if let Some(elsewhere) = self.elsewhere.take() {
            unconstrained(elsewhere.release()).await;
        }
    }
}

/// That a compaction of a session is under way ([`Store::mark_compaction`](crate::Store::mark_compaction)), until it is
/// dropped.
#[derive(Debug)]
pub struct CompactionMark {
    lock: Option<Box<dyn ExternalLock>>,
}

impl CompactionMark {
    pub(crate) fn new(lock: Option<Box<dyn ExternalLock>>) -> Self {
        Self { lock }
    }

    /// Ends the mark, and returns when all instances see that. Dropping it does the same without waiting.
    pub async fn release(mut self) {
        if let Some(lock) = self.lock.take() {
            unconstrained(lock.release()).await;
        }
    }
}

/// The locks of this process: a queue for each name that is locked or waited for.
#[derive(Debug, Default, Clone)]
pub(crate) struct LocalLocks(Arc<Mutex<HashMap<Arc<str>, Queue>>>);

/// The lock of one name, which tasks get in the order in which they first asked.
#[derive(Debug, Default)]
struct Queue {
    lock: Arc<tokio::sync::Mutex<()>>,
    /// Those that wait, and the one that holds the lock.
    places: usize,
}

/// The lock of a name while it is held. Dropping it passes it to the next waiter.
#[derive(Debug)]
pub(crate) struct LocalLock {
    // In this order: the lock is free when the place is given up.
    _guard: OwnedMutexGuard<()>,
    _place: Place,
}

/// A place in the queue of a name, or at its head. The last one to give it up removes the queue.
#[derive(Debug)]
struct Place {
    local_locks: LocalLocks,
    name: Arc<str>,
}

impl LocalLocks {
    /// Waits for the lock of that name, behind those that wait already. Dropping the future leaves the queue.
    pub(crate) async fn wait(&self, name: Arc<str>) -> LocalLock {
        let (place, queue) = self.join(name);
        // Not of the budget of a tokio task: one that waits here through another executor would never get a new one.
        let guard = unconstrained(queue.lock_owned()).await;
        LocalLock { _guard: guard, _place: place }
    }

    /// Takes a place in the queue of that name. Returns it with the lock to wait for.
    fn join(&self, name: Arc<str>) -> (Place, Arc<tokio::sync::Mutex<()>>) {
        let mut queues = lock(&self.0);
        let queue = queues.entry(Arc::clone(&name)).or_default();
        queue.places += 1;
        (Place { local_locks: self.clone(), name }, Arc::clone(&queue.lock))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut queues = lock(&self.local_locks.0);
        let Some(queue) = queues.get_mut(&self.name) else { return };
        // Counted while the table is locked: of two places that are given up at once, one is the last.
        queue.places -= 1;
        if queue.places == 0 {
            queues.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use std::pin::Pin;
    use std::sync::Barrier;
    use std::task::{Context, Poll, Waker};
    use std::thread;

    use super::*;

    type LockFuture = Pin<Box<dyn Future<Output = LocalLock>>>;

    fn wait(local_locks: &LocalLocks, name: &'static str) -> LockFuture {
        let local_locks = local_locks.clone();
        Box::pin(async move { local_locks.wait(name.into()).await })
    }

    fn poll(wait: &mut LockFuture) -> Option<LocalLock> {
        match wait.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn turns_are_taken_in_order_and_by_those_who_still_wait() {
        let local_locks = LocalLocks::default();
        let mut waits: Vec<LockFuture> = (0..5).map(|_| wait(&local_locks, "a")).collect();
        let first = poll(&mut waits[0]).unwrap();
        assert!(waits[1..].iter_mut().all(|wait| poll(wait).is_none()));
        assert!(poll(&mut wait(&local_locks, "b")).is_some(), "another name is another lock");
        drop(waits.remove(2)); // leaves the queue
        drop(first);
        assert!(poll(&mut waits[2]).is_none(), "it is not its turn");
        let second = poll(&mut waits[1]).unwrap();
        assert!(poll(&mut waits[2]).is_none());
        drop(second);
        drop(waits.remove(2)); // leaves when it is its turn, which it never took
        let last = poll(&mut waits[2]).unwrap();
        assert!(poll(&mut wait(&local_locks, "a")).is_none());
        drop(last);
        drop(waits);
        assert!(lock(&local_locks.0).is_empty(), "nothing is kept of a lock that nobody holds");
    }

    #[test]
    fn of_places_given_up_at_once_one_is_the_last() {
        let local_locks = LocalLocks::default();
        let start = Barrier::new(2);
        let leave = || {
            let mut wait = wait(&local_locks, "a");
            let turn = poll(&mut wait);
            start.wait();
            drop((turn, wait));
        };
        for round in 0..1000 {
            thread::scope(|scope| {
                scope.spawn(leave);
                scope.spawn(leave);
            });
            assert!(lock(&local_locks.0).is_empty(), "round {round}: the queue is kept");
        }
    }
}
