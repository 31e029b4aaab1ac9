//! The events of one session, and what its listeners hear of them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use epitome::live::Event;
use epitome::store::FeedEvent;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use super::outbox::{Outbox, SESSION_DELETED};

/// The number of events of a session that are kept for listeners that reconnect.
pub(super) const KEPT: usize = 256;

/// The event for a client that has missed some: it asks for the session again.
const MISSED: &str = "missed";

/// Why streams end when the service does.
pub(super) const STOPPING: &str = "the service stops";

/// Why the streams of a session end with it.
pub(super) const DELETED: &str = "the session was deleted";

/// An event on its way.
#[derive(Debug)]
pub(crate) struct QueuedEvent {
    /// The event's number: among the session's in this process, or among all of the database.
    pub(super) sequence: u64,
    /// The event's name.
    pub(crate) name: Cow<'static, str>,
    /// It as JSON.
    pub(crate) json: String,
    pub(super) kind: EventKind,
}

/// Who an event is for, and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    /// For those who subscribed before its number was given.
    Change,
    /// For all: some were missed.
    Missed,
    /// For those who subscribed before its number was given: the last one, of which they hear the reason alone.
    End,
}

/// The JSON of an event: its own fields, the session's id, and its number.
#[derive(Serialize)]
struct EventJson<'a, E> {
    #[serde(flatten)]
    event: &'a E,
    session: &'a str,
    sequence: u64,
}

/// The JSON in place of events that are not kept any more.
#[derive(Serialize)]
struct MissedEvents {
    event: &'static str,
}

/// The events of one session.
pub(super) struct Topic {
    tenant: Arc<str>,
    pub(super) session: Arc<str>,
    outbox: Option<Outbox>,
    /// Tells it from one of the same session that was forgotten.
    pub(super) number: u64,
    /// Held while an event is numbered, kept and sent, so that all hear the same order.
    pub(super) kept: Mutex<EventLog>,
    pub(super) sender: broadcast::Sender<Arc<QueuedEvent>>,
    /// The reason why there will be no more events.
    pub(super) ended: watch::Sender<Option<&'static str>>,
}

/// The newest events of a session, where they are kept in this process.
#[derive(Default)]
pub(super) struct EventLog {
    pub(super) events: VecDeque<Arc<QueuedEvent>>,
    pub(super) sequence: u64,
}

impl Topic {
    /// The events of a session from here on, through `outbox` where there is one. `ended` is the reason where there will be
    /// none.
    pub(super) fn new(
        (tenant, session): (&str, &Arc<str>),
        number: u64,
        outbox: Option<Outbox>,
        ended: Option<&'static str>,
    ) -> Self {
        Self {
            tenant: Arc::from(tenant),
            session: Arc::clone(session),
            outbox,
            number,
            kept: Mutex::default(),
            sender: broadcast::Sender::new(KEPT),
            ended: watch::Sender::new(ended),
        }
    }

    /// Tells an event to all who watch.
    pub(super) fn publish(&self, event: &Event) {
        if let Some(outbox) = &self.outbox {
            return outbox.publish(&self.tenant, &self.session, event);
        }
        let mut kept = self.kept.lock();
        kept.sequence += 1;
        let Some(event) = self.event_for_listeners(kept.sequence, event.name(), EventKind::Change, event) else {
            return;
        };
        kept.events.push_back(Arc::clone(&event));
        if kept.events.len() > KEPT {
            kept.events.pop_front();
        }
        // Nobody may be watching.
        let _ = self.sender.send(event);
    }

    /// An event of the database as its listeners hear it.
    pub(super) fn read(&self, event: &FeedEvent) -> Option<Arc<QueuedEvent>> {
        let kind = if &*event.name == SESSION_DELETED { EventKind::End } else { EventKind::Change };
        match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&event.body) {
            Ok(fields) => self.event_for_listeners(event.id, event.name.to_string(), kind, &fields),
            Err(error) => {
                tracing::error!(%error, id = event.id, "an event of the database cannot be read");
                self.missed_event(event.id)
            }
        }
    }

    /// An event as its listeners hear it; none, and logged, where it cannot be written as JSON.
    pub(super) fn event_for_listeners<E: Serialize>(
        &self,
        sequence: u64,
        name: impl Into<Cow<'static, str>>,
        kind: EventKind,
        event: &E,
    ) -> Option<Arc<QueuedEvent>> {
        match serde_json::to_string(&EventJson { event, session: &self.session, sequence }) {
            Ok(json) => Some(Arc::new(QueuedEvent { sequence, name: name.into(), json, kind })),
            Err(error) => {
                tracing::error!(%error, "an event could not be written");
                None
            }
        }
    }

    /// That events up to `sequence` were missed.
    pub(super) fn missed_event(&self, sequence: u64) -> Option<Arc<QueuedEvent>> {
        self.event_for_listeners(sequence, MISSED, EventKind::Missed, &MissedEvents { event: MISSED })
    }
}
