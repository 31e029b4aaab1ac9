//! Locks of sessions: who works on a session keeps others waiting.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use epitome_strategy::BoxFuture;

/// A session's lock, for as long as it is held. Dropping it gives it back; so does the end of the process, or of the
/// connection to the database that holds the locks: then somebody else may have it before this value is dropped, and of the
/// two, whoever changes the session second is told of a conflict ([`StoreError::Conflict`](crate::StoreError::Conflict)).
#[derive(Debug)]
pub struct SessionLock {
    // Given back in this order: whoever waits in this process finds it free with the other instances too.
    elsewhere: Option<Box<dyn ExternalLock>>,
    _here: Turn,
}

/// A lock that others than this process see.
pub(crate) trait ExternalLock: Send + Sync + Debug {
    /// Gives it back and waits until it is. Dropping it gives it back at some later time.
    fn release(self: Box<Self>) -> BoxFuture<'static, ()>;
}

impl SessionLock {
    pub(crate) fn new(here: Turn, elsewhere: Option<Box<dyn ExternalLock>>) -> Self {
        Self { elsewhere, _here: here }
    }

    /// Gives the lock back, and returns when others can have it. Dropping it does the same without waiting.
    pub async fn release(mut self) {
        if let Some(elsewhere) = self.elsewhere.take() {
            elsewhere.release().await;
        }
    }
}

type Queues = Mutex<HashMap<Arc<str>, VecDeque<Arc<Waiter>>>>;

/// The locks of this process: a queue for each name that is locked.
#[derive(Debug, Default, Clone)]
pub(crate) struct Turns(Arc<Queues>);

/// Somebody who waits.
#[derive(Debug, Default)]
struct Waiter(Mutex<WaiterState>);

#[derive(Debug, Default)]
struct WaiterState {
    is_granted: bool,
    is_gone: bool,
    waker: Option<Waker>,
}

/// Being the one whose turn it is. Dropping it makes it the next one's.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Turns,
    name: Arc<str>,
}

/// Poisoned only by a panic between two assignments of this module, which do not panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Waits for the turn of that name, behind those who wait already.
    pub(crate) fn wait(&self, name: Arc<str>) -> TurnFuture {
        let mut queues = lock(&self.0);
        let waiting = match queues.entry(Arc::clone(&name)) {
            Entry::Vacant(vacant) => {
                vacant.insert(VecDeque::new());
                let granted = WaiterState { is_granted: true, ..WaiterState::default() };
                Arc::new(Waiter(Mutex::new(granted)))
            }
            Entry::Occupied(mut queue) => {
                let waiting = Arc::new(Waiter::default());
                queue.get_mut().push_back(Arc::clone(&waiting));
                waiting
            }
        };
        TurnFuture { turns: self.clone(), name, waiting: Some(waiting) }
    }

    /// Makes it the turn of the next one who still waits.
    fn pass(&self, name: &Arc<str>) {
        let mut queues = lock(&self.0);
        let Some(queue) = queues.get_mut(name) else { return };
        while let Some(next) = queue.pop_front() {
            let mut state = lock(&next.0);
            if !state.is_gone {
                state.is_granted = true;
                let waker = state.waker.take();
                drop(state);
                drop(queues);
                waker.into_iter().for_each(Waker::wake);
                return;
            }
        }
        queues.remove(name);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.pass(&self.name);
    }
}

/// A future of a turn. Dropping it is leaving the queue.
#[derive(Debug)]
pub(crate) struct TurnFuture {
    turns: Turns,
    name: Arc<str>,
    /// `None` when the turn was taken.
    waiting: Option<Arc<Waiter>>,
}

impl Future for TurnFuture {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn> {
        let Some(waiting) = &self.waiting else { return Poll::Pending }; // there is one turn to a wait
        let mut state = lock(&waiting.0);
        if !state.is_granted {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        self.waiting = None;
        Poll::Ready(Turn { turns: self.turns.clone(), name: Arc::clone(&self.name) })
    }
}

impl Drop for TurnFuture {
    fn drop(&mut self) {
        let Some(waiting) = self.waiting.take() else { return };
        let mut state = lock(&waiting.0);
        state.is_gone = true;
        let was_granted = state.is_granted;
        drop(state);
        if was_granted {
            self.turns.pass(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn poll(wait: &mut TurnFuture) -> Option<Turn> {
        match Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn turns_are_taken_in_order_and_by_those_who_still_wait() {
        let turns = Turns::default();
        let name: Arc<str> = "a".into();
        let mut waits: Vec<TurnFuture> = (0..5).map(|_| turns.wait(Arc::clone(&name))).collect();
        let first = poll(&mut waits[0]).unwrap();
        assert!(waits[1..].iter_mut().all(|wait| poll(wait).is_none()));
        assert!(poll(&mut turns.wait("b".into())).is_some(), "another name is another lock");
        drop(waits.remove(2)); // leaves the queue
        drop(first);
        let second = poll(&mut waits[1]).unwrap();
        assert!(poll(&mut waits[2]).is_none());
        drop(second);
        drop(waits.remove(2)); // leaves when it is its turn, which it never took
        let last = poll(&mut waits[2]).unwrap();
        assert!(poll(&mut turns.wait(Arc::clone(&name))).is_none());
        drop(last);
        drop(waits);
        assert!(lock(&turns.0).is_empty(), "nothing is kept of a lock that nobody holds");
    }
}
