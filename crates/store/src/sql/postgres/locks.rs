//! The locks that this instance holds in PostgreSQL: all of them belong to one connection, however many they are.
//!
//! A task owns that connection. It asks for all locks that are waited for in one query, again and again with growing
//! pauses, so that waiting keeps nothing busy. Each lock has a gate, which is a lock too: whoever has the gate is the next
//! one, and an instance that wants the lock back at once queues up behind it.
//!
//! When the connection breaks, the locks that it held are free for others, and their holders are not told: what they then
//! change names the version that they know, so that whoever comes second gets a conflict instead of doing harm.

use std::error::Error;
use std::fmt::{self, Debug};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use epitome_strategy::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::{connection, failed};
use crate::error::StoreError;
use crate::lock::ExternalLock;

/// The first pause of somebody who waits; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// How often a connection that has nothing to do is used, so that nobody in between takes it for dead, and its end is
/// noticed.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// How long the database has for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

const LOCKING: &str = "locking a session";

/// Says how far each one got: 0 it waits before the gate, 1 it has the gate, 2 it has the lock and no gate any more.
const TAKE: &str = "\
    SELECT CASE WHEN CASE WHEN at_gate THEN true ELSE pg_try_advisory_lock(gate) END \
           THEN CASE WHEN pg_try_advisory_lock(key) THEN 1 + pg_advisory_unlock(gate)::int4 ELSE 1 END \
           ELSE 0 END \
    FROM unnest($1::int8[], $2::int8[], $3::bool[]) AS waiting(key, gate, at_gate)";
const GIVE_BACK: &str = "SELECT pg_advisory_unlock(key) FROM unnest($1::int8[]) AS held(key)";

/// Where locks are asked for.
pub(super) struct Locks {
    // Nobody is in it twice: its length is bounded by the sessions that this process works on.
    orders: UnboundedSender<Order>,
}

/// The numbers of a lock and of its gate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    pub(super) lock: i64,
    pub(super) gate: i64,
}

#[derive(Debug)]
enum Order {
    Take(LockWaiter),
    GiveBack { key: i64, connection: u64, done: Option<oneshot::Sender<()>> },
}

/// Somebody who waits for a lock.
#[derive(Debug)]
struct LockWaiter {
    /// The lock as it will be handed over. While it is not held, dropping it does nothing.
    lock: HeldLock,
    keys: Keys,
    taken: oneshot::Sender<Result<HeldLock, StoreError>>,
    at_gate: bool,
    due: Instant,
    pause: Duration,
}

/// A lock that is held, unless the connection that held it is gone.
pub(super) struct HeldLock {
    orders: UnboundedSender<Order>,
    key: i64,
    /// The number of the connection that holds it.
    connection: Option<u64>,
}

impl Locks {
    /// Starts the task, in the runtime that this is called in. It ends when nobody has or wants a lock any more and the
    /// value is dropped. The pool has one connection, which is made when the first lock is asked for.
    pub(super) fn start(pool: Pool) -> Self {
        let (orders, received) = unbounded_channel();
        let keeper = Keeper {
            pool,
            client: None,
            connection: 0,
            orders: received,
            waiting: Vec::new(),
            returned: Vec::new(),
            told: Vec::new(),
        };
        tokio::spawn(keeper.run());
        Self { orders }
    }

    /// Waits for a lock. Dropping the future is asking for it no longer.
    ///
    /// One at a time for each lock: to the database, all who ask here are the same.
    pub(super) async fn take(&self, keys: Keys) -> Result<HeldLock, StoreError> {
        let ended = || StoreError::Database { doing: LOCKING, source: "the runtime of the store has ended".into() };
        let (taken, answer) = oneshot::channel();
        let lock = HeldLock { orders: self.orders.clone(), key: keys.lock, connection: None };
        let waiting = LockWaiter { lock, keys, taken, at_gate: false, due: Instant::now(), pause: FIRST_PAUSE };
        self.orders.send(Order::Take(waiting)).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

/// What the task knows.
struct Keeper {
    pool: Pool,
    client: Option<Object>,
    /// Counts the connections, so that a lock of an earlier one is not given back on a later one.
    connection: u64,
    orders: UnboundedReceiver<Order>,
    waiting: Vec<LockWaiter>,
    /// What is to be given back, and who waits until it is.
    returned: Vec<i64>,
    told: Vec<oneshot::Sender<()>>,
}

impl Keeper {
    async fn run(mut self) {
        loop {
            let heartbeat = Instant::now() + HEARTBEAT;
            let next = self.waiting.iter().map(|waiting| waiting.due).fold(heartbeat, Instant::min);
            match timeout_at(next, self.orders.recv()).await {
                Ok(Some(order)) => self.note(order),
                Ok(None) => return,
                Err(_) => {}
            }
            while let Ok(order) = self.orders.try_recv() {
                self.note(order);
            }
            self.round().await;
        }
    }

    fn note(&mut self, order: Order) {
        match order {
            Order::Take(waiting) => self.waiting.push(waiting),
            // Went with its connection.
            Order::GiveBack { connection, .. } if connection != self.connection => {}
            Order::GiveBack { key, done, .. } => {
                self.returned.push(key);
                self.told.extend(done);
            }
        }
    }

    /// Gives back what is to be given back, and tries what is due.
    async fn round(&mut self) {
        let (gone, waiting): (Vec<_>, Vec<_>) =
            mem::take(&mut self.waiting).into_iter().partition(|waiting| waiting.taken.is_closed());
        self.returned.extend(gone.iter().filter(|waiting| waiting.at_gate).map(|waiting| waiting.keys.gate));
        let now = Instant::now();
        let (mut due, waiting): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|waiting| waiting.due <= now);
        self.waiting = waiting;
        let was_connected = self.client.is_some();
        let mut asked = self.ask(&mut due).await;
        if asked.is_err() && was_connected && !due.is_empty() {
            // It may have broken long ago: that is no reason to refuse anybody.
            asked = self.ask(&mut due).await;
        }
        match asked {
            Ok(steps) => self.move_on(due, &steps),
            Err(error) => {
                let (doing, source): (_, Arc<dyn Error + Send + Sync>) = match error {
                    StoreError::Database { doing, source } => (doing, source.into()),
                    other => (LOCKING, Arc::new(other)),
                };
                for waiting in due {
                    let source = Box::new(Arc::clone(&source));
                    let _ = waiting.taken.send(Err(StoreError::Database { doing, source }));
                }
            }
        }
    }

    fn move_on(&mut self, due: Vec<LockWaiter>, steps: &[i32]) {
        for (mut waiting, step) in due.into_iter().zip(steps) {
            if *step == 2 {
                waiting.lock.connection = Some(self.connection);
                // Where nobody waits any more, the lock comes back, is dropped, and so given back.
                let _ = waiting.taken.send(Ok(waiting.lock));
                continue;
            }
            let is_next = *step == 1;
            let pause = if is_next && !waiting.at_gate { FIRST_PAUSE } else { waiting.pause };
            waiting.at_gate = is_next;
            waiting.due = Instant::now() + pause;
            waiting.pause = (pause * 2).min(LONGEST_PAUSE);
            self.waiting.push(waiting);
        }
    }

    /// Asks the database; when it fails, the connection is given up, and everything that belonged to it.
    async fn ask(&mut self, due: &mut [LockWaiter]) -> Result<Vec<i32>, StoreError> {
        let answer = timeout(PATIENCE, self.ask_now(due)).await;
        let late = || StoreError::Database { doing: LOCKING, source: "the database does not answer".into() };
        let answer = answer.unwrap_or_else(|_| Err(late()));
        if answer.is_err() {
            self.client.take().map(Object::take).into_iter().for_each(drop);
            self.connection += 1;
            self.returned.clear();
            self.told.clear();
            for waiting in self.waiting.iter_mut().chain(due) {
                waiting.at_gate = false;
            }
        }
        answer
    }

    async fn ask_now(&mut self, due: &[LockWaiter]) -> Result<Vec<i32>, StoreError> {
        if self.client.is_none() && !due.is_empty() {
            self.client = Some(connection(&self.pool).await?);
        }
        let Some(client) = &self.client else { return Ok(Vec::new()) };
        let is_heartbeat = due.is_empty() && self.returned.is_empty();
        if !self.returned.is_empty() {
            let give_back = client.prepare_cached(GIVE_BACK).await.map_err(failed(LOCKING))?;
            client.query(&give_back, &[&self.returned]).await.map_err(failed(LOCKING))?;
            self.returned.clear();
            for told in self.told.drain(..) {
                let _ = told.send(());
            }
        }
        if due.is_empty() && !is_heartbeat {
            return Ok(Vec::new());
        }
        let locks: Vec<i64> = due.iter().map(|waiting| waiting.keys.lock).collect();
        let gates: Vec<i64> = due.iter().map(|waiting| waiting.keys.gate).collect();
        let at_gate: Vec<bool> = due.iter().map(|waiting| waiting.at_gate).collect();
        let take = client.prepare_cached(TAKE).await.map_err(failed(LOCKING))?;
        let rows = client.query(&take, &[&locks, &gates, &at_gate]).await.map_err(failed(LOCKING))?;
        rows.iter().map(|row| row.try_get(0).map_err(failed(LOCKING))).collect()
    }
}

impl Debug for HeldLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HeldLock").field("key", &self.key).finish_non_exhaustive()
    }
}

impl ExternalLock for HeldLock {
    fn release(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Some(connection) = self.connection.take() else { return };
            let (done, is_done) = oneshot::channel();
            let order = Order::GiveBack { key: self.key, connection, done: Some(done) };
            if self.orders.send(order).is_ok() {
                // An error is the end of the connection, and of its locks.
                let _ = is_done.await;
            }
        })
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Nobody takes it any more where the task has ended, and the connection with it.
            let _ = self.orders.send(Order::GiveBack { key: self.key, connection, done: None });
        }
    }
}
