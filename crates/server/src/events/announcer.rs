//! Announces the events of a live session to its listeners.

use std::sync::Arc;

use epitome::live::{Event, Listener};
use parking_lot::Mutex;

use super::hub::Hub;
use super::topic::Topic;

/// Announces the events of one session: progress at once, outcomes when they are stored.
///
/// Whoever works on the session says [`stored`](Self::stored) after it was stored, or [`failed`](Self::failed).
#[derive(Clone)]
pub(crate) struct Announcer {
    topic: Arc<Topic>,
    held: Arc<Mutex<Vec<Event>>>,
}

impl std::fmt::Debug for Announcer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Announcer").field("held", &self.held.lock().len()).finish()
    }
}

impl Announcer {
    /// For a session of a tenant.
    pub(crate) fn new(hub: &Hub, tenant: &str, session: &str) -> Self {
        Self { topic: hub.topic(tenant, session), held: Arc::default() }
    }

    /// The listener for the live session.
    pub(crate) fn listener(&self) -> Listener {
        let announcer = self.clone();
        Arc::new(move |event| announcer.on(event))
    }

    fn on(&self, event: &Event) {
        let mut held = self.held.lock();
        match event {
            Event::CompactionDone { .. }
            | Event::ArrivalCut { .. }
            | Event::ResultsCleared { .. }
            | Event::Undone { .. } => held.push(event.clone()),
            // The newest counters are the ones that count.
            Event::TokenUpdate { .. } => {
                held.retain(|event| !matches!(event, Event::TokenUpdate { .. }));
                held.push(event.clone());
            }
            // A failure has nothing to store; events before it still wait for their store.
            _ => self.topic.publish(event),
        }
    }

    /// The change is stored: announces its outcomes.
    pub(crate) fn announce_stored(&self) {
        // Held while events are sent, so that those of two callers do not mix.
        let mut held = self.held.lock();
        held.drain(..).for_each(|event| self.topic.publish(&event));
    }

    /// The change could not be stored, and so has not happened.
    pub(crate) fn announce_failure(&self, message: &str) {
        let mut held = self.held.lock();
        let was_compacted = held.drain(..).any(|event| matches!(event, Event::CompactionDone { .. }));
        if was_compacted {
            self.topic.publish(&Event::CompactionError { message: message.to_owned(), retryable: true });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::hub::NextEvent;
    use super::*;

    fn cut() -> Event {
        Event::ArrivalCut { epoch: 1, tokens_before: 9, tokens_after: 3 }
    }

    fn step() -> Event {
        Event::CompactionStep { strategy: "window".into(), tokens_before: 9, tokens_after: 3, edits: 1 }
    }

    fn done() -> Event {
        Event::CompactionDone {
            success: true,
            status: epitome::Status::Compacted,
            stopped: None,
            compacted_count: 1,
            keep_recent_count: 1,
            summary_message_id: None,
            summary_content: None,
            tokens_before: 9,
            tokens_after: 3,
            saved_ratio: 0.67,
            epoch: Some(2),
            flushed_memories: 0,
        }
    }

    /// The events that a listener has received after `work`.
    async fn check(work: impl FnOnce(&Announcer, &Listener), expect: &[&str]) {
        let hub = Arc::new(Hub::default());
        let mut watching = hub.subscribe("t", "s", None).unwrap();
        let announcer = Announcer::new(&hub, "t", "s");
        work(&announcer, &announcer.listener());
        hub.close();
        let mut heard = Vec::new();
        while let NextEvent::Event(event) = watching.next().await {
            heard.push(event.name.clone());
        }
        assert_eq!(heard, expect);
    }

    #[tokio::test]
    async fn outcomes_are_told_when_they_are_stored() {
        check(|_, listener| [cut(), step()].iter().for_each(|event| listener(event)), &["compaction_step"]).await;
        let stored = |announcer: &Announcer, listener: &Listener| {
            [cut(), step(), done()].iter().for_each(|event| listener(event));
            announcer.announce_stored();
            announcer.announce_stored();
        };
        check(stored, &["compaction_step", "arrival_cut", "compaction_done"]).await;
    }

    #[tokio::test]
    async fn what_could_not_be_stored_has_not_happened() {
        let failed = |announcer: &Announcer, listener: &Listener| {
            listener(&done());
            announcer.announce_failure("the disk is full");
            announcer.announce_stored();
        };
        check(failed, &["compaction_error"]).await;
        let nothing_of_note = |announcer: &Announcer, listener: &Listener| {
            listener(&cut());
            announcer.announce_failure("the disk is full");
        };
        check(nothing_of_note, &[]).await;
    }
}
