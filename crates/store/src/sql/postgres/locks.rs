//! The locks that this instance holds in PostgreSQL: all of them belong to one connection, however many they are.
//!
//! A task owns that connection. It asks for all locks that are waited for in one query, again and again with growing
//! pauses, so that a waiter keeps neither the database nor a thread busy. Each lock has a gate, which is a lock too:
//! the holder of the gate gets the lock next, and an instance that wants the lock back at once queues up behind it.
//!
//! When the connection breaks, the locks that it held are free for others, and their holders are not informed. That
//! does no harm: a change names the version that its holder knows, so the second of two changes is refused as a
//! conflict.

use std::error::Error;
use std::fmt::{self, Debug};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use epitome_strategy::async_trait;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::connect::{connection, failed};
use crate::error::StoreError;
use crate::lock::ExternalLock;

/// The first pause of a waiter; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The interval at which an idle connection is used, so that no proxy closes it as dead, and its end is noticed.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// The time that the database has for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

const LOCKING: &str = "locking a session";

/// One attempt for each waiter: answers the state that it has reached. Only the holder of the gate tries to take the
/// lock, and it gives the gate back as soon as it has the lock, in the same query:
///
/// ```text
/// 0: waits before the gate ──gate is free──▶ 1: has the gate ──lock is free──▶ 2: has the lock, not the gate
///          ▲                                            │
///          └─ the connection broke ─────────────────────┘
/// ```
///
/// A waiter may pass from 0 to 2 in one attempt. Where two instances want one lock: A has it, B has the gate and tries
/// the lock again and again. A gives the lock back and wants it again at once: it has to wait at the gate, so B is
/// next. Without the gate, A could take the lock again before B's next attempt, every time.
const TAKE: &str = "\
    SELECT CASE WHEN CASE WHEN at_gate THEN true ELSE pg_try_advisory_lock(gate) END \
           THEN CASE WHEN pg_try_advisory_lock(key) THEN 1 + pg_advisory_unlock(gate)::int4 ELSE 1 END \
           ELSE 0 END \
    FROM unnest($1::int8[], $2::int8[], $3::bool[]) AS waiting(key, gate, at_gate)";
/// Takes the locks that no other connection has, without waiting.
const TRY: &str = "SELECT pg_try_advisory_lock(key) FROM unnest($1::int8[]) AS wanted(key)";
const GIVE_BACK: &str = "SELECT pg_advisory_unlock(key) FROM unnest($1::int8[]) AS held(key)";

/// The locks of this instance; asks the task for them.
pub(super) struct Locks {
    // No session is in it twice: its length is bounded by the sessions that this process works on.
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
    Try(LockAttempt),
    GiveBack { key: i64, connection: u64, done: Option<oneshot::Sender<()>> },
}

/// A caller that waits for a lock.
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

/// A caller that wants a lock at once or not at all.
#[derive(Debug)]
struct LockAttempt {
    /// As that of a [`LockWaiter`].
    lock: HeldLock,
    taken: oneshot::Sender<Result<Option<HeldLock>, StoreError>>,
}

/// A lock that is held, unless the connection that held it is gone.
pub(super) struct HeldLock {
    orders: UnboundedSender<Order>,
    key: i64,
    /// The number of the connection that holds it.
    connection: Option<u64>,
}

impl Locks {
    /// Starts the task, in the runtime that this is called in. It ends when no lock is held or waited for and the value
    /// is dropped. The pool has one connection, which is made when the first lock is asked for.
    pub(super) fn start(pool: Pool) -> Self {
        let (orders, received) = unbounded_channel();
        let keeper = Keeper {
            pool,
            client: None,
            connection: 0,
            orders: received,
            waiting: Vec::new(),
            attempts: Vec::new(),
            returned: Vec::new(),
            told: Vec::new(),
        };
        tokio::spawn(keeper.run());
        Self { orders }
    }

    /// Waits for a lock. Dropping the future withdraws the request.
    ///
    /// One call at a time for each lock: to the database, all callers in this process are one holder.
    pub(super) async fn take(&self, keys: Keys) -> Result<HeldLock, StoreError> {
        let ended = || StoreError::Database { doing: LOCKING, source: "the runtime of the store has ended".into() };
        let (taken, answer) = oneshot::channel();
        let lock = HeldLock { orders: self.orders.clone(), key: keys.lock, connection: None };
        let waiting = LockWaiter { lock, keys, taken, at_gate: false, due: Instant::now(), pause: FIRST_PAUSE };
        self.orders.send(Order::Take(waiting)).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    /// Takes a lock where no other process has it. This process is one holder: where it has the lock already, it has it once
    /// more, and gives it back as often.
    pub(super) async fn try_take(&self, key: i64) -> Result<Option<HeldLock>, StoreError> {
        let ended = || StoreError::Database { doing: LOCKING, source: "the runtime of the store has ended".into() };
        let (taken, answer) = oneshot::channel();
        let lock = HeldLock { orders: self.orders.clone(), key, connection: None };
        self.orders.send(Order::Try(LockAttempt { lock, taken })).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

/// The database's answers to requests for locks.
#[derive(Debug, Default)]
struct Answers {
    /// The step that each waiter has reached.
    steps: Vec<i32>,
    /// Whether each attempt has its lock.
    are_held: Vec<bool>,
}

/// The state of the task.
struct Keeper {
    pool: Pool,
    client: Option<Object>,
    /// Counts the connections, so that a lock of an earlier one is not given back on a later one.
    connection: u64,
    orders: UnboundedReceiver<Order>,
    waiting: Vec<LockWaiter>,
    attempts: Vec<LockAttempt>,
    /// The locks to give back, and in `told` the callers that wait until they are given back.
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
            Order::Try(attempt) => self.attempts.push(attempt),
            // The lock ended with its connection.
            Order::GiveBack { connection, .. } if connection != self.connection => {}
            Order::GiveBack { key, done, .. } => {
                self.returned.push(key);
                self.told.extend(done);
            }
        }
    }

    /// Gives back the returned locks, and makes the attempts that are due.
    async fn round(&mut self) {
        let (gone, waiting): (Vec<_>, Vec<_>) =
            mem::take(&mut self.waiting).into_iter().partition(|waiting| waiting.taken.is_closed());
        self.returned.extend(gone.iter().filter(|waiting| waiting.at_gate).map(|waiting| waiting.keys.gate));
        let now = Instant::now();
        let (mut due, waiting): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|waiting| waiting.due <= now);
        self.waiting = waiting;
        let attempts = mem::take(&mut self.attempts);
        let tried: Vec<i64> = attempts.iter().map(|attempt| attempt.lock.key).collect();
        let was_connected = self.client.is_some();
        let mut asked = self.ask(&mut due, &tried).await;
        if asked.is_err() && was_connected && !(due.is_empty() && tried.is_empty()) {
            // The connection may have broken long ago: that is not a reason to refuse a waiter.
            asked = self.ask(&mut due, &tried).await;
        }
        match asked {
            Ok(Answers { steps, are_held }) => {
                self.move_on(due, &steps);
                self.answer(attempts, &are_held);
            }
            Err(error) => {
                let (doing, source): (_, Arc<dyn Error + Send + Sync>) = match error {
                    StoreError::Database { doing, source } => (doing, source.into()),
                    other => (LOCKING, Arc::new(other)),
                };
                let error = || StoreError::Database { doing, source: Box::new(Arc::clone(&source)) };
                for waiting in due {
                    let _ = waiting.taken.send(Err(error()));
                }
                for attempt in attempts {
                    let _ = attempt.taken.send(Err(error()));
                }
            }
        }
    }

    fn move_on(&mut self, due: Vec<LockWaiter>, steps: &[i32]) {
        for (mut waiting, step) in due.into_iter().zip(steps) {
            if *step == 2 {
                waiting.lock.connection = Some(self.connection);
                // Where the caller has stopped waiting, `send` returns the lock, which is dropped and so given back.
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

    /// Hands over the locks of attempts that succeeded. A lock that its caller does not want any more is given back.
    fn answer(&mut self, attempts: Vec<LockAttempt>, are_held: &[bool]) {
        for (mut attempt, is_held) in attempts.into_iter().zip(are_held) {
            attempt.lock.connection = is_held.then_some(self.connection);
            let _ = attempt.taken.send(Ok(Some(attempt.lock).filter(|_| *is_held)));
        }
    }

    /// Asks the database; when it fails, the connection is given up, and everything that belonged to it.
    async fn ask(&mut self, due: &mut [LockWaiter], tried: &[i64]) -> Result<Answers, StoreError> {
        let answer = timeout(PATIENCE, self.ask_now(due, tried)).await;
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

    async fn ask_now(&mut self, due: &[LockWaiter], tried: &[i64]) -> Result<Answers, StoreError> {
        let is_wanted = !(due.is_empty() && tried.is_empty());
        if self.client.is_none() && is_wanted {
            self.client = Some(connection(&self.pool).await?);
        }
        let Some(client) = &self.client else { return Ok(Answers::default()) };
        let is_heartbeat = !is_wanted && self.returned.is_empty();
        if !self.returned.is_empty() {
            let give_back = client.prepare_cached(GIVE_BACK).await.map_err(failed(LOCKING))?;
            client.query(&give_back, &[&self.returned]).await.map_err(failed(LOCKING))?;
            self.returned.clear();
            for told in self.told.drain(..) {
                let _ = told.send(());
            }
        }
        let mut answers = Answers::default();
        if !tried.is_empty() {
            let take = client.prepare_cached(TRY).await.map_err(failed(LOCKING))?;
            let rows = client.query(&take, &[&tried]).await.map_err(failed(LOCKING))?;
            let held = rows.iter().map(|row| row.try_get(0).map_err(failed(LOCKING)));
            answers.are_held = held.collect::<Result<_, _>>()?;
        }
        if due.is_empty() && !is_heartbeat {
            return Ok(answers);
        }
        let locks: Vec<i64> = due.iter().map(|waiting| waiting.keys.lock).collect();
        let gates: Vec<i64> = due.iter().map(|waiting| waiting.keys.gate).collect();
        let at_gate: Vec<bool> = due.iter().map(|waiting| waiting.at_gate).collect();
        let take = client.prepare_cached(TAKE).await.map_err(failed(LOCKING))?;
        let rows = client.query(&take, &[&locks, &gates, &at_gate]).await.map_err(failed(LOCKING))?;
        let steps = rows.iter().map(|row| row.try_get(0).map_err(failed(LOCKING)));
        answers.steps = steps.collect::<Result<_, _>>()?;
        Ok(answers)
    }
}

impl Debug for HeldLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HeldLock").field("key", &self.key).finish_non_exhaustive()
    }
}

#[async_trait]
impl ExternalLock for HeldLock {
    async fn release(mut self: Box<Self>) {
        let Some(connection) = self.connection.take() else { return };
        let (done, is_done) = oneshot::channel();
        let order = Order::GiveBack { key: self.key, connection, done: Some(done) };
        if self.orders.send(order).is_ok() {
            // An error is the end of the connection, and of its locks.
            let _ = is_done.await;
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // An error means that the task has ended, and with it the connection and its locks.
            let _ = self.orders.send(Order::GiveBack { key: self.key, connection, done: None });
        }
    }
}
