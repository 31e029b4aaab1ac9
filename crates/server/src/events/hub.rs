//! Who watches which session, and what they have missed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::live::Event;
use serde::Serialize;
use tokio::sync::{broadcast, watch};

/// Events of a session that are kept for those who come back.
const KEPT: usize = 256;

/// Sessions of one tenant whose events are kept. The one that was used least recently is forgotten first, unless somebody
/// watches it.
const MOST_TOPICS: usize = 1_024;

/// Those who may watch at once, of one tenant.
pub(crate) const MOST_LISTENERS: u32 = 256;

/// The event for a client that has missed some: it asks for the session again.
const MISSED: &str = "missed";

/// An event on its way.
#[derive(Debug)]
pub(crate) struct QueuedEvent {
    /// Its number among the session's, in this process.
    sequence: u64,
    /// Its name.
    pub(crate) name: &'static str,
    /// It as JSON.
    pub(crate) json: String,
}

/// What is written of an event: its own fields, the session's id, and its number.
#[derive(Serialize)]
struct EventJson<'a, E> {
    #[serde(flatten)]
    event: &'a E,
    session: &'a str,
    sequence: u64,
}

/// What is written in place of events that are not kept any more.
#[derive(Serialize)]
struct MissedEvents {
    event: &'static str,
}

/// The events of all sessions.
pub(crate) struct Hub {
    /// Tells this process from others: a number that somebody heard of another one means nothing here.
    process: String,
    state: Mutex<HubState>,
}

#[derive(Default)]
struct HubState {
    tenants: HashMap<Arc<str>, TenantTopics>,
    clock: u64,
    is_closed: bool,
}

/// What a tenant has of it.
#[derive(Default)]
struct TenantTopics {
    topics: HashMap<Arc<str>, (Arc<Topic>, u64)>,
    by_use: BTreeMap<u64, Arc<str>>,
    listeners: u32,
}

/// The events of one session.
pub(super) struct Topic {
    session: Arc<str>,
    /// Tells it from one of the same session that was forgotten.
    number: u64,
    /// Held while an event is numbered, kept and sent, so that all hear the same order.
    kept: Mutex<EventLog>,
    sender: broadcast::Sender<Arc<QueuedEvent>>,
    /// Why there will be no more.
    ended: watch::Sender<Option<&'static str>>,
}

#[derive(Default)]
struct EventLog {
    events: VecDeque<Arc<QueuedEvent>>,
    sequence: u64,
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hub").field("tenants", &lock(&self.state).tenants.len()).finish()
    }
}

impl Default for Hub {
    fn default() -> Self {
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let process = format!("{:x}.{:x}", std::process::id(), started.as_micros());
        Self { process, state: Mutex::default() }
    }
}

/// Why streams end when the service does.
const STOPPING: &str = "the service stops";

impl Hub {
    /// The events of a session. Whether there is such a session is the caller's business.
    pub(super) fn topic(&self, tenant: &str, session: &str) -> Arc<Topic> {
        let mut state = lock(&self.state);
        state.clock += 1;
        let (clock, is_closed) = (state.clock, state.is_closed);
        state.of(tenant).topic(session, clock, is_closed)
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
        let kept = lock(&topic.kept);
        let mut waiting = VecDeque::new();
        if let Some(id) = after {
            let oldest = kept.events.front().map_or(kept.sequence + 1, |told| told.sequence);
            match self.number_in(&topic, id).filter(|after| (oldest..=kept.sequence + 1).contains(&(after + 1))) {
                Some(after) => waiting.extend(kept.events.iter().filter(|told| told.sequence > after).cloned()),
                None => waiting.extend(topic.missed_event(kept.sequence)),
            }
        }
        let (receiver, sequence) = (topic.sender.subscribe(), kept.sequence);
        drop(kept);
        Some(Subscription { waiting, receiver, sequence, ended: topic.ended.subscribe(), topic, _place: place })
    }

    /// What an event is known by when somebody comes back.
    pub(super) fn id_of(&self, subscription: &Subscription, told: &QueuedEvent) -> String {
        format!("{}-{}-{}", self.process, subscription.topic.number, told.sequence)
    }

    /// The number in an id, where it is one of this topic.
    fn number_in(&self, topic: &Topic, id: &str) -> Option<u64> {
        let (topic_number, sequence) = id.strip_prefix(&self.process)?.strip_prefix('-')?.split_once('-')?;
        let is_its = topic_number.parse() == Ok(topic.number);
        sequence.parse().ok().filter(|_| is_its)
    }

    /// Those who watch, of all tenants.
    pub(crate) fn listeners(&self) -> u32 {
        lock(&self.state).tenants.values().map(|tenant| tenant.listeners).sum()
    }

    /// Ends the streams of a session, which is no more.
    pub(crate) fn end(&self, tenant: &str, session: &str) {
        let mut state = lock(&self.state);
        let of_tenant = state.of(tenant);
        if let Some((topic, used)) = of_tenant.topics.remove(session) {
            of_tenant.by_use.remove(&used);
            topic.ended.send_replace(Some("the session was deleted"));
        }
    }

    /// Ends every stream.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        for (topic, _) in state.tenants.values().flat_map(|tenant| tenant.topics.values()) {
            topic.ended.send_replace(Some(STOPPING));
        }
    }
}

impl HubState {
    fn of(&mut self, tenant: &str) -> &mut TenantTopics {
        if !self.tenants.contains_key(tenant) {
            self.tenants.insert(Arc::from(tenant), TenantTopics::default());
        }
        self.tenants.entry(Arc::from(tenant)).or_default()
    }
}

impl TenantTopics {
    fn topic(&mut self, session: &str, clock: u64, is_closed: bool) -> Arc<Topic> {
        if let Some((topic, used)) = self.topics.get_mut(session) {
            let before = std::mem::replace(used, clock);
            let session = self.by_use.remove(&before).unwrap_or_else(|| Arc::clone(&topic.session));
            self.by_use.insert(clock, session);
            return Arc::clone(topic);
        }
        let session: Arc<str> = Arc::from(session);
        let topic = Arc::new(Topic {
            session: Arc::clone(&session),
            number: clock,
            kept: Mutex::default(),
            sender: broadcast::Sender::new(KEPT),
            ended: watch::Sender::new(is_closed.then_some(STOPPING)),
        });
        self.topics.insert(Arc::clone(&session), (Arc::clone(&topic), clock));
        self.by_use.insert(clock, session);
        self.forget();
        topic
    }

    /// Forgets sessions that nobody watches until there are few enough.
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

impl Topic {
    /// Tells an event to all who watch.
    pub(super) fn tell(&self, event: &Event) {
        let mut kept = lock(&self.kept);
        kept.sequence += 1;
        let Some(told) = self.told(kept.sequence, event.name(), event) else { return };
        kept.events.push_back(Arc::clone(&told));
        if kept.events.len() > KEPT {
            kept.events.pop_front();
        }
        // Nobody may be watching.
        let _ = self.sender.send(told);
    }

    fn told<E: Serialize>(&self, sequence: u64, name: &'static str, event: &E) -> Option<Arc<QueuedEvent>> {
        match serde_json::to_string(&EventJson { event, session: &self.session, sequence }) {
            Ok(json) => Some(Arc::new(QueuedEvent { sequence, name, json })),
            Err(error) => {
                tracing::error!(%error, "an event could not be written");
                None
            }
        }
    }

    /// That events up to `sequence` were missed.
    fn missed_event(&self, sequence: u64) -> Option<Arc<QueuedEvent>> {
        self.told(sequence, MISSED, &MissedEvents { event: MISSED })
    }
}

/// What comes next for somebody who watches.
#[derive(Debug)]
pub(crate) enum NextEvent {
    /// An event.
    Event(Arc<QueuedEvent>),
    /// There will be no more, for this reason.
    End(&'static str),
}

/// Somebody who watches a session.
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
    /// Tells this listener alone how the session stands, behind what was missed and before what comes.
    pub(super) fn tell_now(&mut self, event: &Event) {
        self.waiting.extend(self.topic.told(self.sequence, event.name(), event));
    }

    /// The next event. May be dropped and called again.
    pub(super) async fn next(&mut self) -> NextEvent {
        if let Some(told) = self.waiting.pop_front() {
            return NextEvent::Event(told);
        }
        tokio::select! {
            biased; // what was told before the end is heard before it
            told = self.receiver.recv() => match told {
                Ok(told) => NextEvent::Event(told),
                Err(broadcast::error::RecvError::Lagged(_)) => match self.topic.missed_event(self.sequence) {
                    Some(missed) => NextEvent::Event(missed),
                    None => NextEvent::End("events were missed"),
                },
                Err(broadcast::error::RecvError::Closed) => NextEvent::End(STOPPING),
            },
            ended = self.ended.wait_for(Option::is_some) => NextEvent::End(ended.ok().and_then(|why| *why).unwrap_or(STOPPING)),
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
        let mut state = lock(&hub.state);
        let of_tenant = state.of(tenant);
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
        lock(&self.hub.state).of(&self.tenant).listeners -= 1;
    }
}

/// What these locks guard is whole between any two statements that can panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
                NextEvent::Event(told) => {
                    let json: serde_json::Value = serde_json::from_str(&told.json).unwrap();
                    heard.push(json.get("epoch").map_or_else(|| told.name.to_owned(), ToString::to_string));
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
        (1..=3).for_each(|epoch| topic.tell(&undone(epoch)));
        let NextEvent::Event(one) = first.next().await else { panic!("no event") };
        assert_eq!(one.json, r#"{"event":"undone","epoch":1,"tokens":10,"session":"s","sequence":1}"#);
        assert_eq!(one.name, "undone");
        let id = hub.id_of(&first, &one);
        let mut again = hub.subscribe("t", "s", Some(&id)).unwrap();
        again.tell_now(&undone(100));
        topic.tell(&undone(4));
        assert_eq!(heard(&mut again, 4).await, ["2", "3", "100", "4"], "each once, and how it stands between");
        assert_eq!(heard(&mut first, 3).await, ["2", "3", "4"]);
        let mut latest = hub.subscribe("t", "s", Some(&format!("{}-{}-4", hub.process, topic.number))).unwrap();
        topic.tell(&undone(5));
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
        topic.tell(&undone(0));
        let id = format!("{}-{}-1", hub.process, topic.number);
        (1..=KEPT as u32).for_each(|epoch| topic.tell(&undone(epoch)));
        assert_eq!(heard(&mut slow, 2).await, ["missed", "1"], "too slow");
        assert_eq!(heard(&mut hub.subscribe("t", "s", Some(&id)).unwrap(), 1).await, ["1"], "just in time");
        topic.tell(&undone(9));
        let [elsewhere, forgotten] = ["another-1-1".to_owned(), format!("{}-99-1", hub.process)];
        let later = format!("{}-{}-999", hub.process, topic.number);
        for id in [&id, &elsewhere, &forgotten, &later] {
            assert_eq!(heard(&mut hub.subscribe("t", "s", Some(id)).unwrap(), 1).await, ["missed"], "{id}");
        }
        hub.end("t", "s");
        let mut rest = heard(&mut slow, KEPT + 2).await;
        assert_eq!(rest.pop().unwrap(), "the session was deleted");
        let mut anew = hub.subscribe("t", "s", Some(&id)).unwrap();
        assert_eq!(heard(&mut anew, 1).await, ["missed"], "a session of the same id is another");
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
        assert_eq!(lock(&hub.state).of("t").topics.len(), MOST_TOPICS);
        assert_eq!(lock(&hub.state).of("u").topics.len(), 1, "one tenant does not push out another's");
        assert!(Arc::ptr_eq(&hub.topic("t", "s"), &all[0].topic), "who is watched is not forgotten");
        drop(all);
        assert_eq!(hub.listeners(), 0);
    }
}
