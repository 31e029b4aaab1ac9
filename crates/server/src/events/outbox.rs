//! Events on their way to the listeners of all instances.
//!
//! Publishing an event does not wait: a task takes all that have come since its last write, and writes them in one
//! transaction with one notification. A burst of events is a few transactions, whatever their number.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use epitome::live::Event;
use epitome::store::{Exchange, OutgoingEvent};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// The name of the event that a session is deleted with.
pub(super) const SESSION_DELETED: &str = "session_deleted";

/// The name of the event that stands for some that could not be written.
pub(super) const EVENTS_LOST: &str = "events_lost";

/// The most events that may wait for the database. Further ones are lost, and listeners learn that they have missed some.
const MOST_WAITING: usize = 8_192;

/// Events of one transaction.
const MOST_AT_ONCE: usize = 512;

/// The time for which events are kept for listeners who come back, as long as there are not too many.
const KEPT_FOR: Duration = Duration::from_secs(15 * 60);

/// Events of all sessions that are kept.
const MOST_KEPT: u32 = 200_000;

/// The interval at which old events are deleted.
const PRUNED_EVERY: Duration = Duration::from_secs(60);

/// How long a session's worker waits for its events to be stored.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pauses between attempts to write, the first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Takes events for all instances. Cloning it is sharing it.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::Sender<Item>,
    exchange: Exchange,
    counters: Arc<OutboxCounters>,
}

/// What has become of events.
#[derive(Debug, Default)]
pub(super) struct OutboxCounters {
    published: AtomicU64,
    lost: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) is_connected: AtomicBool,
    /// Whether the last attempt to write failed.
    is_failing: AtomicBool,
    /// Whether listeners still have to learn that some are lost.
    is_loss_unreported: AtomicBool,
}

enum Item {
    Event(OutgoingEvent),
    /// A caller waits until all before it are written.
    Settle(oneshot::Sender<()>),
}

impl fmt::Debug for Outbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outbox").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl Outbox {
    /// An outbox, and the task that empties it.
    pub(super) fn new(exchange: Exchange) -> (Self, impl Future<Output = ()> + Send) {
        let (queue, queued) = mpsc::channel(MOST_WAITING);
        let counters = Arc::<OutboxCounters>::default();
        let task = write(exchange.clone(), queued, Arc::clone(&counters));
        (Self { queue, exchange, counters }, task)
    }

    pub(super) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    pub(super) fn counters(&self) -> &OutboxCounters {
        &self.counters
    }

    /// Tells an event of a session.
    pub(super) fn publish(&self, tenant: &Arc<str>, session: &Arc<str>, event: &Event) {
        match serde_json::to_string(event) {
            Ok(body) => self.push(OutgoingEvent {
                tenant: Arc::clone(tenant),
                session: Arc::clone(session),
                name: Arc::from(event.name()),
                body,
                is_last: false,
            }),
            Err(error) => tracing::error!(%error, "an event could not be written"),
        }
    }

    /// Tells that a session was deleted: its streams end.
    pub(super) fn end_session(&self, tenant: &str, session: &str) {
        self.push(OutgoingEvent {
            tenant: Arc::from(tenant),
            session: Arc::from(session),
            name: Arc::from(SESSION_DELETED),
            body: "{}".to_owned(),
            is_last: true,
        });
    }

    fn push(&self, event: OutgoingEvent) {
        if self.queue.try_send(Item::Event(event)).is_err() {
            self.counters.lost.fetch_add(1, Ordering::Relaxed);
            self.counters.is_loss_unreported.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until the events published before are written; not where the database takes nothing.
    pub(super) async fn flush(&self) {
        if self.counters.is_failing.load(Ordering::Relaxed) {
            return;
        }
        let (settled, is_settled) = oneshot::channel();
        let wait = async {
            if self.queue.send(Item::Settle(settled)).await.is_ok() {
                // An error is a write that failed: it is tried again without anybody waiting.
                let _ = is_settled.await;
            }
        };
        if tokio::time::timeout(PATIENCE, wait).await.is_err() {
            tracing::warn!("events of a session are not written yet");
        }
    }

    /// The current counters: name, help, value, and whether it is a counter.
    pub(crate) fn metrics(&self) -> [(&'static str, &'static str, f64, bool); 4] {
        let counters = &self.counters;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let is_connected = counters.is_connected.load(Ordering::Relaxed);
        [
            (
                "epitome_events_published_total",
                "Events that were written for all instances.",
                count(&counters.published),
                true,
            ),
            ("epitome_events_lost_total", "Events that could not be written.", count(&counters.lost), true),
            (
                "epitome_event_failures_total",
                "How often events could not be written or read.",
                count(&counters.failures),
                true,
            ),
            (
                "epitome_event_feed_connected",
                "Whether this instance hears the events of all.",
                f64::from(u8::from(is_connected)),
                false,
            ),
        ]
    }
}

/// Writes what is queued until no publisher is left.
async fn write(exchange: Exchange, mut queued: mpsc::Receiver<Item>, counters: Arc<OutboxCounters>) {
    let mut prune_at = Instant::now() + PRUNED_EVERY;
    loop {
        match tokio::time::timeout_at(prune_at, queued.recv()).await {
            Ok(None) => return,
            Ok(Some(first)) => {
                let (mut events, mut waiting) = (Vec::new(), Vec::new());
                let mut next = Some(first);
                while let Some(item) = next {
                    match item {
                        Item::Event(event) => events.push(event),
                        Item::Settle(settled) => waiting.push(settled),
                    }
                    next = if events.len() < MOST_AT_ONCE { queued.try_recv().ok() } else { None };
                }
                write_all(&exchange, events, waiting, &counters).await;
            }
            Err(_) => {}
        }
        // Also where there is always something to write.
        if Instant::now() >= prune_at {
            prune_at = Instant::now() + PRUNED_EVERY;
            if let Err(error) = exchange.prune_events(KEPT_FOR, MOST_KEPT).await {
                counters.failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%error, "old events are not deleted");
            }
        }
    }
}

/// Writes events, again and again until it is done. A waiting caller gets the result of the first attempt.
async fn write_all(
    exchange: &Exchange,
    mut events: Vec<OutgoingEvent>,
    waiting: Vec<oneshot::Sender<()>>,
    counters: &OutboxCounters,
) {
    let published = events.len() as u64;
    if counters.is_loss_unreported.swap(false, Ordering::Relaxed) {
        let nobody = Arc::<str>::from("");
        let (tenant, name) = (Arc::clone(&nobody), Arc::from(EVENTS_LOST));
        events.push(OutgoingEvent { tenant, session: nobody, name, body: "{}".to_owned(), is_last: false });
    }
    let (mut waiting, mut pause) = (Some(waiting), FIRST_PAUSE);
    while let Err(error) = exchange.publish(&events).await {
        waiting = None;
        counters.failures.fetch_add(1, Ordering::Relaxed);
        if !counters.is_failing.swap(true, Ordering::Relaxed) {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(%error, %cause, "events of sessions cannot be written: listeners hear them later");
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    if counters.is_failing.swap(false, Ordering::Relaxed) {
        tracing::info!("events of sessions are written again");
    }
    counters.published.fetch_add(published, Ordering::Relaxed);
    for settled in waiting.into_iter().flatten() {
        // Whoever waited may have given up.
        let _ = settled.send(());
    }
}
