//! Shares the workers: a fixed number of jobs at once, and the tenants in turns.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::threads;

/// Processor time counts half as much after this time.
const HALF_LIFE: Duration = Duration::from_secs(5);

/// A tenant that has used more seconds of the processor lately yields to those that have used less: about a seventh of
/// one core, all the time.
const MUCH: f64 = 1.0;

/// Workers beyond the bound, for tenants that have none while others have them all.
const SPARE: usize = 8;

/// A fair queue for workers. Tenants that wait get them one after the other, however much each of them waits for. Where
/// there are several tenants, none has more than half of the workers, and one without a worker does not wait for the
/// end of the others' jobs: a few more workers run then, and the system shares the cores among all of them, with less
/// for tenants that have used much lately.
#[derive(Debug)]
pub(crate) struct Workers {
    most: usize,
    most_of_one: usize,
    spare: usize,
    are_several: bool,
    state: Mutex<WorkerState>,
}

/// The processor time that a tenant has used, in seconds, as much as it still counts at a given time.
#[derive(Debug)]
struct ProcessorUsage {
    seconds: f64,
    at: Instant,
}

impl ProcessorUsage {
    fn seconds_at(&self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.seconds * (-passed / HALF_LIFE.as_secs_f64()).exp2()
    }
}

#[derive(Debug, Default)]
struct WorkerState {
    /// The usage of each tenant that has ever worked: there are no more of them than tokens.
    used: HashMap<Arc<str>, ProcessorUsage>,
    busy: usize,
    busy_of: HashMap<Arc<str>, usize>,
    waiting: HashMap<Arc<str>, VecDeque<oneshot::Sender<WorkerPermit>>>,
    /// The tenants that wait, the next one first.
    order: VecDeque<Arc<str>>,
}

/// The right to one worker, until it is dropped.
#[derive(Debug)]
pub(crate) struct WorkerPermit {
    workers: Arc<Workers>,
    tenant: Arc<str>,
}

impl Workers {
    /// Returns a pool of `most` workers; one tenant gets half of them at most where there are several.
    pub(crate) fn new(most: usize, are_several: bool) -> Arc<Self> {
        let most = most.max(1);
        let most_of_one = if are_several { most.div_ceil(2) } else { most };
        let spare = if are_several { SPARE } else { 0 };
        Arc::new(Self { most, most_of_one, spare, are_several, state: Mutex::default() })
    }

    /// Whether a tenant has used so much processor time lately that others come first.
    fn yields_to_others(&self, tenant: &str) -> bool {
        let used = |state: &WorkerState| state.used.get(tenant).map_or(0.0, |used| used.seconds_at(Instant::now()));
        self.are_several && used(&self.state.lock()) > MUCH
    }

    fn use_up(&self, tenant: &Arc<str>, time: Duration) {
        let (mut state, now) = (self.state.lock(), Instant::now());
        let used = state.used.entry(Arc::clone(tenant)).or_insert(ProcessorUsage { seconds: 0.0, at: now });
        *used = ProcessorUsage { seconds: used.seconds_at(now) + time.as_secs_f64(), at: now };
    }

    /// Waits for a worker. Dropping the future leaves the queue.
    pub(crate) async fn acquire(self: &Arc<Self>, tenant: &Arc<str>) -> WorkerPermit {
        loop {
            let (sender, receiver) = oneshot::channel();
            {
                let mut state = self.state.lock();
                let queue = state.waiting.entry(Arc::clone(tenant)).or_default();
                queue.push_back(sender);
                if queue.len() == 1 {
                    state.order.push_back(Arc::clone(tenant));
                }
            }
            self.hand_out();
            // An error would be a turn that was lost on its way: it is asked for once more.
            if let Ok(turn) = receiver.await {
                return turn;
            }
        }
    }

    /// Gives free workers to the next tenants.
    fn hand_out(self: &Arc<Self>) {
        loop {
            let next = self.state.lock().next(self);
            let Some((tenant, sender)) = next else { return };
            // Whoever has left in the meantime gives it back by dropping it.
            drop(sender.send(WorkerPermit { workers: Arc::clone(self), tenant }));
        }
    }
}

impl WorkerState {
    /// The next who gets a turn, counted as busy. Linear in the tenants that wait and may not have one.
    fn next(&mut self, bounds: &Workers) -> Option<(Arc<str>, oneshot::Sender<WorkerPermit>)> {
        let mut place = 0;
        while self.busy < bounds.most + bounds.spare && place < self.order.len() {
            let tenant = Arc::clone(&self.order[place]);
            let has = self.busy_of.get(&tenant).copied().unwrap_or_default();
            let may_have_one = match has {
                0 => true,
                _ => self.busy < bounds.most && has < bounds.most_of_one,
            };
            if !may_have_one {
                place += 1;
                continue;
            }
            self.order.remove(place);
            let Some(queue) = self.waiting.get_mut(&tenant) else { continue };
            let sender = std::iter::from_fn(|| queue.pop_front()).find(|sender| !sender.is_closed());
            if queue.is_empty() {
                self.waiting.remove(&tenant);
            } else {
                self.order.push_back(Arc::clone(&tenant));
            }
            let Some(sender) = sender else { continue };
            self.busy += 1;
            *self.busy_of.entry(Arc::clone(&tenant)).or_default() += 1;
            return Some((tenant, sender));
        }
        None
    }
}

impl WorkerPermit {
    /// Does the work off the threads that answer requests; `None` where it panics, or the system has no thread for it. The
    /// work of a tenant that has used much lately is done on a thread that the system prefers others to.
    pub(crate) async fn run<T: Send + 'static>(self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let yields_to_others = self.workers.yields_to_others(&self.tenant);
        let measured = move || {
            let before = threads::time_used();
            let done = work();
            self.workers.use_up(&self.tenant, threads::time_used().saturating_sub(before));
            drop(self);
            done
        };
        if !yields_to_others {
            return tokio::task::spawn_blocking(measured).await.ok();
        }
        let (sender, receiver) = oneshot::channel();
        let runtime = Handle::current();
        // A thread that has stepped back cannot come forward again, so it ends with its work.
        let thread = std::thread::Builder::new().name("epitome-work".to_owned()).spawn(move || {
            let _entered = runtime.enter();
            threads::lower_priority();
            // Nobody may wait for it any more.
            drop(sender.send(measured()));
        });
        if let Err(error) = thread {
            tracing::error!(%error, "there is no thread to work on");
        }
        receiver.await.ok()
    }
}

impl Drop for WorkerPermit {
    fn drop(&mut self) {
        {
            let mut state = self.workers.state.lock();
            state.busy -= 1;
            if let Some(busy) = state.busy_of.get_mut(&self.tenant) {
                *busy -= 1;
                if *busy == 0 {
                    state.busy_of.remove(&self.tenant);
                }
            }
        }
        self.workers.hand_out();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = WorkerPermit>>>;

    fn wait(workers: &Arc<Workers>, tenant: &str) -> Waiting {
        let (workers, name) = (Arc::clone(workers), Arc::from(tenant));
        let mut waiting: Waiting = Box::pin(async move { workers.acquire(&name).await });
        assert!(has(&mut waiting).is_none(), "there is none for {tenant} at once");
        waiting
    }

    fn has(waiting: &mut Waiting) -> Option<WorkerPermit> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    fn turn(workers: &Arc<Workers>, tenant: &str) -> WorkerPermit {
        let (workers, tenant) = (Arc::clone(workers), Arc::from(tenant));
        let mut waiting: Waiting = Box::pin(async move { workers.acquire(&tenant).await });
        has(&mut waiting).unwrap()
    }

    /// Workers for several tenants, none of them spare.
    fn without_spare(most: usize) -> Arc<Workers> {
        let most_of_one = most.div_ceil(2);
        Arc::new(Workers { most, most_of_one, spare: 0, are_several: true, state: Mutex::default() })
    }

    #[test]
    fn tenants_take_turns() {
        let workers = without_spare(1);
        let first = turn(&workers, "alice");
        let mut alice = [wait(&workers, "alice"), wait(&workers, "alice")];
        let mut bob = wait(&workers, "bob");
        drop(first);
        let second = has(&mut alice[0]).unwrap();
        assert!(has(&mut bob).is_none());
        drop(second);
        // Alice has waited longer, and it is Bob's turn.
        assert!(has(&mut alice[1]).is_none());
        drop(has(&mut bob).unwrap());
        drop(has(&mut alice[1]).unwrap());
        let state = workers.state.lock();
        assert!(state.busy == 0 && state.busy_of.is_empty() && state.waiting.is_empty() && state.order.is_empty());
    }

    #[test]
    fn nobody_has_more_than_half_where_there_are_others() {
        let workers = without_spare(4);
        let alice = [turn(&workers, "alice"), turn(&workers, "alice")];
        let mut third = wait(&workers, "alice");
        let _bob = [turn(&workers, "bob"), turn(&workers, "bob")];
        drop(alice);
        assert!(has(&mut third).is_some());
        let alone = Workers::new(2, false);
        let _both = [turn(&alone, "alice"), turn(&alone, "alice")];
    }

    #[test]
    fn who_has_none_does_not_wait_for_those_who_have() {
        let workers = Workers::new(2, true);
        let _busy = [turn(&workers, "alice"), turn(&workers, "bob")];
        let mut more = wait(&workers, "alice");
        let carol = turn(&workers, "carol");
        let mut second = wait(&workers, "carol");
        drop(carol);
        // Carol has none again, and Alice has one.
        assert!(has(&mut more).is_none() && has(&mut second).is_some());
        let _others: Vec<WorkerPermit> = (0..SPARE - 1).map(|number| turn(&workers, &number.to_string())).collect();
        let _last = turn(&workers, "last");
        drop(wait(&workers, "none is left"));
    }

    #[test]
    fn a_tenant_that_used_much_yields_for_a_while() {
        let check = |are_several: bool, used: f64, ago: u64, expect: bool| {
            let (workers, tenant) = (Workers::new(2, are_several), Arc::from("alice"));
            workers.use_up(&tenant, Duration::from_secs_f64(used));
            let Some(at) = Instant::now().checked_sub(Duration::from_secs(ago)) else { return };
            workers.state.lock().used.get_mut(&tenant).unwrap().at = at;
            assert_eq!(workers.yields_to_others("alice"), expect, "{are_several} {used} {ago}");
            assert!(!workers.yields_to_others("bob"));
        };
        check(true, 2.0, 0, true);
        check(true, 0.5, 0, false);
        check(true, 2.0, 6, false);
        check(true, 5.0, 6, true);
        check(false, 5.0, 0, false);
    }

    #[tokio::test]
    async fn work_is_done_wherever_it_is_done() {
        let workers = Workers::new(2, true);
        for used in [0, 100] {
            let tenant: Arc<str> = Arc::from("alice");
            workers.use_up(&tenant, Duration::from_secs(used));
            let done = workers.acquire(&tenant).await.run(|| (7, Handle::try_current().is_ok())).await;
            assert_eq!(done, Some((7, true)), "the runtime is there too");
            let panicked = workers.acquire(&tenant).await.run(|| assert_eq!(1, 2)).await;
            assert_eq!(panicked, None);
            assert_eq!(workers.state.lock().busy, 0);
        }
    }

    #[test]
    fn whoever_leaves_the_queue_holds_nothing() {
        let workers = without_spare(1);
        let first = turn(&workers, "alice");
        let gone = [wait(&workers, "bob"), wait(&workers, "carol")];
        let mut dave = wait(&workers, "dave");
        drop(gone);
        drop(first);
        drop(has(&mut dave).unwrap());
        // Also where it has left with the turn on its way.
        let first = turn(&workers, "alice");
        let given = wait(&workers, "bob");
        drop(first);
        drop(given);
        drop(turn(&workers, "carol"));
    }
}
