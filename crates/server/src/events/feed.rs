//! Events of all instances, as they come from the database.
//!
//! A connection is woken when an instance has published something; what it was is read behind the last number that was read. So
//! nothing is lost with a notification, nor with the connection: a new connection continues where the last one stopped.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use epitome::store::{Exchange, Store, StoreError};
use tokio::task::JoinHandle;

use super::hub::Hub;
use super::outbox::{Outbox, OutboxCounters};

/// Events that are read at once.
const PAGE: u32 = 1_000;

/// The pauses between attempts to connect, the first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The tasks that write events to the database and read them. They end with this value.
#[derive(Debug)]
pub(crate) struct FeedTasks([JoinHandle<()>; 2]);

impl Drop for FeedTasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// The hub of a service with that store. Where instances share the store, events go through it from here on.
pub(crate) async fn open(store: Option<&Store>) -> Result<(Arc<Hub>, Option<FeedTasks>), StoreError> {
    let Some(exchange) = store.and_then(Store::exchange) else { return Ok((Arc::default(), None)) };
    let feed = exchange.event_feed().await?;
    let (outbox, writing) = Outbox::new(exchange.clone());
    let hub = Arc::new(Hub::over(&feed.name, outbox.clone()));
    let reading = read(exchange, Arc::clone(&hub), outbox, feed.newest);
    Ok((hub, Some(FeedTasks([tokio::spawn(writing), tokio::spawn(reading)]))))
}

/// Delivers the events behind that number, for ever.
async fn read(exchange: Exchange, hub: Arc<Hub>, outbox: Outbox, mut last: u64) {
    let (mut pause, mut is_first) = (FIRST_PAUSE, true);
    loop {
        let counters = outbox.counters();
        let Err(error) = follow(&exchange, &hub, counters, &mut last).await;
        counters.failures.fetch_add(1, Ordering::Relaxed);
        // Only the first of several attempts that fail is worth a line.
        let was_connected = counters.is_connected.swap(false, Ordering::Relaxed);
        if was_connected || is_first {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(%error, %cause, "events of other instances are not heard: trying again");
            pause = FIRST_PAUSE;
        }
        is_first = false;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Delivers the events behind that number until the connection breaks.
async fn follow(
    exchange: &Exchange,
    hub: &Hub,
    counters: &OutboxCounters,
    last: &mut u64,
) -> Result<Infallible, StoreError> {
    let mut wakeups = exchange.wakeups().await?;
    loop {
        while deliver_page(exchange, hub, last).await? {}
        if !counters.is_connected.swap(true, Ordering::Relaxed) {
            tracing::info!("events of all instances are heard");
        }
        wakeups.next().await?;
    }
}

/// Delivers the next events. Whether there are more.
async fn deliver_page(exchange: &Exchange, hub: &Hub, last: &mut u64) -> Result<bool, StoreError> {
    let page = exchange.events_after(*last, PAGE).await?;
    if !page.follows(*last) {
        // Deleted before they were read, or the database is an older copy of itself: its numbers begin before.
        hub.publish_missed((*last).min(page.newest));
    }
    page.events.iter().for_each(|event| hub.deliver(event));
    *last = page.events.last().map_or(page.newest, |event| event.id);
    Ok(page.events.len() == PAGE as usize)
}
