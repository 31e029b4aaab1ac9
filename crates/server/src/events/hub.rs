//! Listeners of sessions, and the events that they have missed.
//!
//! Where instances share a database, an event goes there and comes back to all of them, this one included, with its number in
//! the database: every listener hears the same events in the same order. Otherwise it goes to the listeners at once.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use epitome::live::Event;
use epitome::store::{FeedEvent, StoreError};
use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};

use super::outbox::{EVENTS_LOST, Outbox, SESSION_DELETED};
use super::topic::{DELETED, EventKind, KEPT, QueuedEvent, STOPPING, Topic};

/// Sessions of one tenant whose events are kept. The one that was used least recently is forgotten first, unless it has
/// a listener.
const MOST_TOPICS: usize = 1_024;

/// The number of listeners that one tenant may have at once.
pub(crate) const MOST_LISTENERS: u32 = 256;

/// The events of all sessions.
pub(crate) struct Hub {
    /// Whose the numbers are: this process', or the database's. A number of another means nothing here.
    origin: String,
    /// The way to the listeners of all instances, where there are several.
    outbox: Option<Outbox>,
    state: Mutex<HubState>,
}

#[derive(Default)]
struct HubState {
    tenants: HashMap<Arc<str>, TenantTopics>,
    clock: u64,
    is_closed: bool,
}

/// The topics of one tenant.
#[derive(Default)]
struct TenantTopics {
    topics: HashMap<Arc<str>, (Arc<Topic>, u64)>,
    by_use: BTreeMap<u64, Arc<str>>,
    listeners: u32,
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hub").field("tenants", &self.state.lock().tenants.len()).finish()
    }
}

impl Default for Hub {
    fn default() -> Self {
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let origin = format!("{:x}.{:x}", std::process::id(), started.as_micros());
        Self { origin, outbox: None, state: Mutex::default() }
    }
}

impl Hub {
    /// A hub whose events go through the database of that name, and so to the listeners of all instances.
    pub(super) fn over(database: &str, outbox: Outbox) -> Self {
        Self { origin: format!("all.{database}"), outbox: Some(outbox), state: Mutex::default() }
    }

    /// The way to the listeners of all instances, where there are several.
    pub(crate) fn outbox(&self) -> Option<&Outbox> {
        self.outbox.as_ref()
    }

    /// The events of a session. Whether there is such a session is the caller's business.
    pub(super) fn topic(&self, tenant: &str, session: &str) -> Arc<Topic> {
        let mut state = self.state.lock();
        state.clock += 1;
        let (clock, is_closed) = (state.clock, state.is_closed);
        let new = |session: &Arc<str>| {
            Topic::new((tenant, session), clock, self.outbox.clone(), is_closed.then_some(STOPPING))
        };
        state.tenant_topics(tenant).topic(session, clock, new)
    }

    /// Watches a session, as [`subscribe`](Self::subscribe), wherever its numbers are. Errors where they are in a database
    /// that does not answer.
    pub(super) async fn join(
        self: &Arc<Self>,
        tenant: &str,
        session: &str,
        after: Option<&str>,
    ) -> Result<Option<Subscription>, StoreError> {
        let Some(outbox) = &self.outbox else { return Ok(self.subscribe(tenant, session, after)) };
        // First this: what is published from here on is heard, and what was published before is read.
        let Some(mut subscription) = self.subscribe(tenant, session, None) else { return Ok(None) };
        let number = after.and_then(|id| self.number_in(&subscription.topic, id));
        let behind = number.unwrap_or(u64::MAX);
        let page = outbox.exchange().session_events_after(tenant, session, behind, KEPT as u32 + 1).await?;
        let is_whole = page.follows(behind)
            && page.events.len() <= KEPT
            && page.events.iter().all(|event| ![SESSION_DELETED, EVENTS_LOST].contains(&&*event.name));
        subscription.sequence = page.newest;
        if is_whole {
            let read = page.events.iter().filter_map(|event| subscription.topic.read(event));
            subscription.waiting.extend(read);
        } else if after.is_some() {
            subscription.waiting.extend(subscription.topic.missed_event(page.newest));
        }
        Ok(Some(subscription))
    }

    /// Tells listeners of an event that came from the database.
    pub(super) fn deliver(&self, event: &FeedEvent) {
        if &*event.name == EVENTS_LOST {
            return self.publish_missed(event.id);
        }
        let topic = {
            let state = self.state.lock();
            let of_tenant = state.tenants.get(&event.tenant);
            of_tenant.and_then(|tenant| tenant.topics.get(&event.session)).map(|(topic, _)| Arc::clone(topic))
        };
        if let Some(topic) = topic
            && topic.sender.receiver_count() > 0
            && let Some(event) = topic.read(event)
        {
            // The last listener may have left.
            let _ = topic.sender.send(event);
        }
    }

    /// Tells all listeners that some events up to that number were missed.
    pub(super) fn publish_missed(&self, sequence: u64) {
        let state = self.state.lock();
        for (topic, _) in state.tenants.values().flat_map(|tenant| tenant.topics.values()) {
            if let Some(missed) = topic.missed_event(sequence) {
                let _ = topic.sender.send(missed);
            }
        }
    }

    /// Waits until all instances can read the events published before: the session's next worker publishes its events
    /// behind these. Does not wait where the database does not take them.
    pub(crate) async fn flush(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.flush().await;
        }
    }

    /// Watches a session: from the event after `after` on, where that was one of this process that is still kept. `None`
    /// where the tenant watches too many already.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        tenant: &str,
        session: &str,
        after: Option<&str>,
    ) -> Option<Subscription> {
        let place = ListenerSlot::take(self, tenant)?;
        let topic = self.topic(tenant, session);
        let kept = topic.kept.lock();
        let mut waiting = VecDeque::new();
        if let Some(id) = after {
            let oldest = kept.events.front().map_or(kept.sequence + 1, |event| event.sequence);
            match self.number_in(&topic, id).filter(|after| (oldest..=kept.sequence + 1).contains(&(after + 1))) {
                Some(after) => waiting.extend(kept.events.iter().filter(|event| event.sequence > after).cloned()),
                None => waiting.extend(topic.missed_event(kept.sequence)),
            }
        }
        let (receiver, sequence) = (topic.sender.subscribe(), kept.sequence);
        drop(kept);
        Some(Subscription { waiting, receiver, sequence, ended: topic.ended.subscribe(), topic, _place: place })
    }

    /// The id of an event, with which a client can continue.
    pub(super) fn id_of(&self, subscription: &Subscription, event: &QueuedEvent) -> String {
        match self.outbox {
            Some(_) => format!("{}-{}", self.origin, event.sequence),
            None => format!("{}-{}-{}", self.origin, subscription.topic.number, event.sequence),
        }
    }

    /// The number in an id, where it is one of this topic.
    fn number_in(&self, topic: &Topic, id: &str) -> Option<u64> {
        let number = id.strip_prefix(&self.origin)?.strip_prefix('-')?;
        if self.outbox.is_some() {
            return number.parse().ok();
        }
        let (topic_number, sequence) = number.split_once('-')?;
        let is_its = topic_number.parse() == Ok(topic.number);
        sequence.parse().ok().filter(|_| is_its)
    }

    /// The number of listeners, of all tenants.
    pub(crate) fn listeners(&self) -> u32 {
        self.state.lock().tenants.values().map(|tenant| tenant.listeners).sum()
    }

    /// Ends the streams of a session that was deleted.
    pub(crate) fn end_session(&self, tenant: &str, session: &str) {
        if let Some(outbox) = &self.outbox {
            return outbox.end_session(tenant, session);
        }
        let mut state = self.state.lock();
        let of_tenant = state.tenant_topics(tenant);
        if let Some((topic, used)) = of_tenant.topics.remove(session) {
            of_tenant.by_use.remove(&used);
            topic.ended.send_replace(Some(DELETED));
        }
    }

    /// Ends every stream.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        for (topic, _) in state.tenants.values().flat_map(|tenant| tenant.topics.values()) {
            topic.ended.send_replace(Some(STOPPING));
        }
    }
}

impl HubState {
    fn tenant_topics(&mut self, tenant: &str) -> &mut TenantTopics {
        if !self.tenants.contains_key(tenant) {
            self.tenants.insert(Arc::from(tenant), TenantTopics::default());
        }
        self.tenants.entry(Arc::from(tenant)).or_default()
    }
}

impl TenantTopics {
    fn topic(&mut self, session: &str, clock: u64, new: impl FnOnce(&Arc<str>) -> Topic) -> Arc<Topic> {
        if let Some((topic, used)) = self.topics.get_mut(session) {
            let before = std::mem::replace(used, clock);
            let session = self.by_use.remove(&before).unwrap_or_else(|| Arc::clone(&topic.session));
            self.by_use.insert(clock, session);
            return Arc::clone(topic);
        }
        let session: Arc<str> = Arc::from(session);
        let topic = Arc::new(new(&session));
        self.topics.insert(Arc::clone(&session), (Arc::clone(&topic), clock));
        self.by_use.insert(clock, session);
        self.forget();
        topic
    }

    /// Forgets sessions without listeners until there are few enough.
    fn forget(&mut self) {
        let excess = self.topics.len().saturating_sub(MOST_TOPICS);
        let unused =
            |session: &&Arc<str>| self.topics.get(*session).is_some_and(|(topic, _)| Arc::strong_count(topic) == 1);
        let oldest: Vec<Arc<str>> = self.by_use.values().filter(unused).take(excess).cloned().collect();
        for session in oldest {
            if let Some((_, used)) = self.topics.remove(&session) {
                self.by_use.remove(&used);
            }
        }
    }
}

/// The next event for a listener.
#[derive(Debug)]
pub(crate) enum NextEvent {
    /// An event.
    Event(Arc<QueuedEvent>),
    /// There will be no more events, for this reason.
    End(&'static str),
}

/// A listener's subscription to a session.
pub(crate) struct Subscription {
    waiting: VecDeque<Arc<QueuedEvent>>,
    receiver: broadcast::Receiver<Arc<QueuedEvent>>,
    /// The number of the last event before it was subscribed to.
    sequence: u64,
    ended: watch::Receiver<Option<&'static str>>,
    topic: Arc<Topic>,
    _place: ListenerSlot,
}

impl Subscription {
    /// Sends this listener alone the session's state, behind the missed events and before the new ones.
    pub(super) fn send_now(&mut self, event: &Event) {
        self.waiting.extend(self.topic.event_for_listeners(self.sequence, event.name(), EventKind::Change, event));
    }

    /// The next event. May be dropped and called again.
    pub(super) async fn next(&mut self) -> NextEvent {
        if let Some(event) = self.waiting.pop_front() {
            return NextEvent::Event(event);
        }
        loop {
            let event = tokio::select! {
                biased; // events before the end are heard before it
                event = self.receiver.recv() => event,
                ended = self.ended.wait_for(Option::is_some) => {
                    return NextEvent::End(ended.ok().and_then(|why| *why).unwrap_or(STOPPING));
                }
            };
            match event {
                // One of the database that was published before this listener came, and read a little later.
                Ok(event) if event.kind != EventKind::Missed && event.sequence <= self.sequence => {}
                // Where the numbers begin anew, or events are read again, what comes behind this has smaller ones.
                Ok(event) if event.kind == EventKind::Missed => {
                    self.sequence = self.sequence.min(event.sequence);
                    return NextEvent::Event(event);
                }
                Ok(event) if event.kind == EventKind::End => return NextEvent::End(DELETED),
                Ok(event) => return NextEvent::Event(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    return match self.topic.missed_event(self.sequence) {
                        Some(missed) => NextEvent::Event(missed),
                        None => NextEvent::End("events were missed"),
                    };
                }
                Err(broadcast::error::RecvError::Closed) => return NextEvent::End(STOPPING),
            }
        }
    }
}

/// One of the places that a tenant has for listeners; free again when it is dropped.
struct ListenerSlot {
    hub: Arc<Hub>,
    tenant: Arc<str>,
}

impl ListenerSlot {
    fn take(hub: &Arc<Hub>, tenant: &str) -> Option<Self> {
        let mut state = hub.state.lock();
        let of_tenant = state.tenant_topics(tenant);
        if of_tenant.listeners >= MOST_LISTENERS {
            return None;
        }
        of_tenant.listeners += 1;
        drop(state);
        Some(Self { hub: Arc::clone(hub), tenant: Arc::from(tenant) })
    }
}

impl Drop for ListenerSlot {
    fn drop(&mut self) {
        self.hub.state.lock().tenant_topics(&self.tenant).listeners -= 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn undone(epoch: u32) -> Event {
        Event::Undone { epoch, tokens: 10 }
    }

    /// Reads `count` events: their epochs, or their names where they have none.
    async fn heard(subscription: &mut Subscription, count: usize) -> Vec<String> {
        let mut heard = Vec::new();
        for _ in 0..count {
            match subscription.next().await {
                NextEvent::Event(event) => {
                    let json: serde_json::Value = serde_json::from_str(&event.json).unwrap();
                    heard.push(json.get("epoch").map_or_else(|| event.name.to_string(), ToString::to_string));
                }
                NextEvent::End(why) => heard.push(why.to_owned()),
            }
        }
        heard
    }

    #[tokio::test]
    async fn who_comes_back_hears_what_was_missed() {
        let hub = Arc::new(Hub::default());
        let topic = hub.topic("t", "s");
        let mut first = hub.subscribe("t", "s", None).unwrap();
        (1..=3).for_each(|epoch| topic.publish(&undone(epoch)));
        let NextEvent::Event(one) = first.next().await else { panic!("no event") };
        assert_eq!(one.json, r#"{"event":"undone","epoch":1,"tokens":10,"session":"s","sequence":1}"#);
        assert_eq!(one.name, "undone");
        let id = hub.id_of(&first, &one);
        let mut again = hub.subscribe("t", "s", Some(&id)).unwrap();
        again.send_now(&undone(100));
        topic.publish(&undone(4));
        assert_eq!(heard(&mut again, 4).await, ["2", "3", "100", "4"], "each once, and how it stands between");
        assert_eq!(heard(&mut first, 3).await, ["2", "3", "4"]);
        let mut latest = hub.subscribe("t", "s", Some(&format!("{}-{}-4", hub.origin, topic.number))).unwrap();
        topic.publish(&undone(5));
        assert_eq!(heard(&mut latest, 1).await, ["5"], "who has heard all has missed none");
        let mut elsewhere = hub.subscribe("u", "s", None).unwrap();
        hub.close();
        assert_eq!(heard(&mut elsewhere, 1).await, [STOPPING], "another tenant's session of that name is another");
        assert_eq!(heard(&mut hub.subscribe("t", "new", None).unwrap(), 1).await, [STOPPING]);
    }

    #[tokio::test]
    async fn who_has_missed_what_is_not_kept_is_told_so() {
        let hub = Arc::new(Hub::default());
        let topic = hub.topic("t", "s");
        let mut slow = hub.subscribe("t", "s", None).unwrap();
        topic.publish(&undone(0));
        let id = format!("{}-{}-1", hub.origin, topic.number);
        (1..=KEPT as u32).for_each(|epoch| topic.publish(&undone(epoch)));
        assert_eq!(heard(&mut slow, 2).await, ["missed", "1"], "too slow");
        assert_eq!(heard(&mut hub.subscribe("t", "s", Some(&id)).unwrap(), 1).await, ["1"], "just in time");
        topic.publish(&undone(9));
        let [elsewhere, forgotten] = ["another-1-1".to_owned(), format!("{}-99-1", hub.origin)];
        let later = format!("{}-{}-999", hub.origin, topic.number);
        for id in [&id, &elsewhere, &forgotten, &later] {
            assert_eq!(heard(&mut hub.subscribe("t", "s", Some(id)).unwrap(), 1).await, ["missed"], "{id}");
        }
        hub.end_session("t", "s");
        let mut rest = heard(&mut slow, KEPT + 2).await;
        assert_eq!(rest.pop().unwrap(), DELETED);
        let mut anew = hub.subscribe("t", "s", Some(&id)).unwrap();
        assert_eq!(heard(&mut anew, 1).await, ["missed"], "a session of the same id is another");
    }

    #[tokio::test]
    async fn what_comes_behind_missed_events_is_heard() {
        let hub = Arc::new(Hub::default());
        let mut subscription = hub.subscribe("t", "s", None).unwrap();
        subscription.sequence = 90;
        let topic = hub.topic("t", "s");
        let tell = |sequence, epoch| {
            let event = undone(epoch);
            topic
                .sender
                .send(topic.event_for_listeners(sequence, event.name(), EventKind::Change, &event).unwrap())
                .unwrap();
        };
        tell(4, 4);
        hub.publish_missed(5);
        tell(5, 5);
        tell(6, 6);
        hub.end_session("t", "s");
        assert_eq!(heard(&mut subscription, 3).await, ["missed", "6", DELETED]);
    }

    #[test]
    fn there_are_bounds() {
        let hub = Arc::new(Hub::default());
        let all: Vec<Subscription> = (0..MOST_LISTENERS).map(|_| hub.subscribe("t", "s", None).unwrap()).collect();
        assert!(hub.subscribe("t", "s", None).is_none(), "too many of one tenant");
        assert!(hub.subscribe("u", "s", None).is_some(), "others have places of their own");
        assert_eq!(hub.listeners(), MOST_LISTENERS, "the other one has left");
        for number in 0..MOST_TOPICS {
            hub.topic("t", &format!("other {number}"));
        }
        assert_eq!(hub.state.lock().tenant_topics("t").topics.len(), MOST_TOPICS);
        assert_eq!(hub.state.lock().tenant_topics("u").topics.len(), 1, "one tenant does not push out another's");
        assert!(Arc::ptr_eq(&hub.topic("t", "s"), &all[0].topic), "who is watched is not forgotten");
        drop(all);
        assert_eq!(hub.listeners(), 0);
    }
}
