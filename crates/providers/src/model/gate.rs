//! A gate that lets a bounded number of tasks through at once.

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::unconstrained;

/// Lets a bounded number of tasks through at once; the others wait in the order in which they came.
#[derive(Debug)]
pub(super) struct Gate(Semaphore);

impl Gate {
    pub(super) fn new(width: usize) -> Self {
        Self(Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS)))
    }

    /// Waits for a place; leaving is dropping what it returns. Dropping the future gives the place in the queue up.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        // Not of the budget of a tokio task: one that waits here through another executor would never get a new one.
        unconstrained(self.0.acquire()).await.ok() // an error is a semaphore that was closed, which this one never is
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::Duration;

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
        let gate = Gate::new(0); // as 1: nobody would ever get in
        let woken = [(), ()].map(|()| Arc::<Count>::default());
        let wakers = woken.each_ref().map(|count| Waker::from(Arc::clone(count)));
        let [mut one, mut two] = wakers.each_ref().map(Context::from_waker);
        let mut first = pin!(gate.enter());
        let Poll::Ready(Some(pass)) = first.as_mut().poll(&mut one) else { unreachable!() };
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
    /// A task of tokio has a budget of waits, which only its own scheduler fills again.
    #[test]
    fn a_task_may_wait_through_another_executor_as_often_as_it_likes() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let task = std::thread::spawn(move || {
            runtime.block_on(async {
                let gate = Gate::new(1);
                (0..500).for_each(|_| drop(epitome_engine::block_on(gate.enter())));
            });
            sender.send(()).unwrap();
        });
        receiver.recv_timeout(Duration::from_secs(60)).expect("the task waits for ever");
        task.join().unwrap();
    }
}
