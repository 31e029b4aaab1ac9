//! A gate that lets only so many through at once.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Lets `free` tasks through at once; the others wait in order.
#[derive(Debug)]
pub(super) struct Gate(Mutex<GateState>);

#[derive(Debug)]
struct GateState {
    free: usize,
    next: u64,
    waiting: VecDeque<(u64, Waker)>,
}

/// The right to be inside; leaving is dropping it.
#[derive(Debug)]
pub(super) struct Pass<'g>(&'g Gate);

impl Gate {
    pub(super) fn new(width: usize) -> Self {
        Self(Mutex::new(GateState { free: width.max(1), next: 0, waiting: VecDeque::new() }))
    }

    /// Waits for a place. Dropping the future gives the place in the queue up.
    pub(super) async fn enter(&self) -> Pass<'_> {
        let mut ticket = Ticket { gate: self, number: None };
        poll_fn(|context| {
            let mut state = self.state();
            let is_first = state.waiting.front().is_none_or(|(first, _)| Some(*first) == ticket.number);
            if state.free > 0 && is_first {
                state.free -= 1;
                if ticket.number.take().is_some() {
                    state.waiting.pop_front();
                }
                state.wake();
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            match ticket.number.and_then(|own| state.waiting.iter_mut().find(|(number, _)| *number == own)) {
                Some((_, known)) => *known = waker,
                None => {
                    let number = state.next;
                    state.next += 1;
                    ticket.number = Some(number);
                    state.waiting.push_back((number, waker));
                }
            }
            Poll::Pending
        })
        .await;
        Pass(self)
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GateState {
    /// Wakes the first in the queue, where there is a place.
    fn wake(&self) {
        if let Some((_, waker)) = self.waiting.front().filter(|_| self.free > 0) {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.free += 1;
        state.wake();
    }
}

/// A place in the queue, given up where the waiting ends early.
struct Ticket<'g> {
    gate: &'g Gate,
    number: Option<u64>,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some(own) = self.number {
            let mut state = self.gate.state();
            state.waiting.retain(|(number, _)| *number != own);
            state.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn as_many_as_there_are_places() {
        let gate = Gate::new(1);
        let woken: Vec<Arc<Count>> = (0..4).map(|_| Arc::default()).collect();
        let wakers: Vec<Waker> = woken.iter().map(|count| Waker::from(Arc::clone(count))).collect();
        let mut contexts = wakers.iter().map(Context::from_waker);
        let (mut one, mut two) =
            (contexts.next().unwrap_or_else(|| unreachable!()), contexts.next().unwrap_or_else(|| unreachable!()));
        let mut first = pin!(gate.enter());
        let Poll::Ready(pass) = first.as_mut().poll(&mut one) else { unreachable!() };
        let mut second = Box::pin(gate.enter());
        let mut third = pin!(gate.enter());
        assert!(second.as_mut().poll(&mut one).is_pending() && third.as_mut().poll(&mut two).is_pending());
        drop(pass);
        assert_eq!(woken[0].0.load(Ordering::SeqCst), 1, "the first in the queue is woken");
        assert!(third.as_mut().poll(&mut two).is_pending(), "nobody goes before it");
        drop(second); // It gave up: the next one is woken.
        assert_eq!(woken[1].0.load(Ordering::SeqCst), 1);
        assert!(third.as_mut().poll(&mut two).is_ready());
    }
}
