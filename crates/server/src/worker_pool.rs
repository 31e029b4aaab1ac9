//! Long work, run off the threads that answer requests, each piece by a worker of the pool.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use epitome::strategy::Cancellation;
use tokio::sync::Notify;

use crate::http::{ApiError, Problem};
use crate::settings::Limits;
use crate::workers::Workers;

/// The workers, and the longest time that one piece of work may take.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    workers: Arc<Workers>,
    timeout: Duration,
}

impl WorkerPool {
    /// As many at once as the settings say, or as there are cores; no tenant keeps the others from theirs where there are
    /// several.
    pub(crate) fn new(limits: &Limits, are_several: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let workers = if limits.workers == 0 { cores } else { limits.workers };
        Self { workers: Workers::new(workers, are_several), timeout: limits.work_timeout }
    }

    /// Runs work that takes long off the threads that answer requests, as many at once as there are workers. Work is
    /// cancelled when it exceeds the time limit or its caller disconnects.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        tenant: &Arc<str>,
        work: impl FnOnce(&Cancellation) -> T + Send + 'static,
    ) -> Result<T, WorkFailure> {
        let cancellation = Cancellation::new();
        let _cancel_on_drop = CancelOnDrop(cancellation.clone());
        let span = tracing::Span::current();
        let done = async move {
            let permit = self.workers.acquire(tenant).await;
            permit.run(move || span.in_scope(|| work(&cancellation))).await.ok_or(WorkFailure::Panicked)
        };
        tokio::time::timeout(self.timeout, done).await.unwrap_or(Err(WorkFailure::TimedOut))
    }

    /// Runs a future off the threads that answer requests. Each of its steps occupies a worker; while it waits, for a
    /// model or for the disk, it has none. A step that exceeds the time limit, or whose caller has left, is cancelled by
    /// `cancellation`.
    pub(crate) async fn run_future<T: Send + 'static>(
        &self,
        tenant: &Arc<str>,
        cancellation: &Cancellation,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, WorkFailure> {
        let _cancel_on_drop = CancelOnDrop(cancellation.clone());
        let mut future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
        let waker_signal = Arc::new(ProgressWaker(Notify::new()));
        loop {
            let permit = self.workers.acquire(tenant).await;
            let (waker, span) = (Waker::from(Arc::clone(&waker_signal)), tracing::Span::current());
            let step = move || {
                let polled = span.in_scope(|| future.as_mut().poll(&mut Context::from_waker(&waker)));
                (future, polled)
            };
            let mut step = Box::pin(permit.run(step));
            let stepped = match tokio::time::timeout(self.timeout, &mut step).await {
                Ok(stepped) => stepped,
                Err(_) => {
                    cancellation.request();
                    step.await
                }
            };
            let (same, polled) = stepped.ok_or(WorkFailure::Panicked)?;
            match polled {
                Poll::Ready(value) => return Ok(value),
                Poll::Pending => future = same,
            }
            waker_signal.0.notified().await;
        }
    }
}

/// Cancels work when its waiting caller is gone. Finished work is not affected.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// Signals that a future can make progress; also where no task listens yet.
struct ProgressWaker(Notify);

impl Wake for ProgressWaker {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

/// Why work failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkFailure {
    TimedOut,
    Panicked,
}

impl WorkFailure {
    /// A code.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "timeout",
            Self::Panicked => "internal",
        }
    }
}

impl From<WorkFailure> for ApiError {
    fn from(failed: WorkFailure) -> Self {
        match failed {
            WorkFailure::Panicked => Problem::Internal.into(),
            WorkFailure::TimedOut => Problem::Timeout.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Instant;

    use super::*;

    /// Longer than anything here takes.
    const NEVER: Duration = Duration::from_secs(30);

    fn pool(work_timeout: Duration) -> Arc<WorkerPool> {
        Arc::new(WorkerPool::new(&Limits { work_timeout, workers: 1, ..Limits::default() }, false))
    }

    /// Work that ends only when it is cancelled, and says so.
    fn endless() -> (impl FnOnce(&Cancellation) + Send + 'static, Receiver<()>, Receiver<()>) {
        let ((begins, begun), (ends, ended)): ((Sender<()>, _), (Sender<()>, _)) = (channel(), channel());
        let work = move |cancellation: &Cancellation| {
            begins.send(()).unwrap();
            let since = Instant::now();
            while !cancellation.is_requested() {
                assert!(since.elapsed() < NEVER, "it is never given up");
                std::thread::yield_now();
            }
            ends.send(()).unwrap();
        };
        (work, begun, ended)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_that_takes_too_long_gives_its_worker_back() {
        let (pool, tenant) = (pool(Duration::from_millis(50)), Arc::from("alice"));
        let (work, _begun, ended) = endless();
        assert_eq!(pool.run(&tenant, work).await, Err(WorkFailure::TimedOut));
        ended.recv_timeout(NEVER).unwrap();
        let next = pool.workers.acquire(&tenant);
        tokio::time::timeout(NEVER, next).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_whose_caller_has_left_gives_its_worker_back() {
        let (pool, tenant) = (pool(NEVER), Arc::from("alice"));
        let (work, begun, ended) = endless();
        let (shared, its) = (Arc::clone(&pool), Arc::clone(&tenant));
        let caller = tokio::spawn(async move { shared.run(&its, work).await });
        tokio::task::spawn_blocking(move || begun.recv_timeout(NEVER)).await.unwrap().unwrap();
        caller.abort();
        ended.recv_timeout(NEVER).unwrap();
        tokio::time::timeout(NEVER, pool.workers.acquire(&tenant)).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_step_that_takes_too_long_is_given_up() {
        let (pool, tenant, cancellation) = (pool(Duration::from_millis(50)), Arc::from("alice"), Cancellation::new());
        let (work, _begun, ended) = endless();
        let its = cancellation.clone();
        let stepped = pool.run_future(&tenant, &cancellation, async move {
            work(&its);
            7
        });
        assert_eq!(stepped.await, Ok(7), "what it comes to then is its own");
        ended.recv_timeout(NEVER).unwrap();
    }
}
