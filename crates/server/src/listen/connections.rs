//! The connections that are open: how many of them there may be, in all and of one address, and which are idle.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The connections that are open, within bounds.
///
/// A connection on which no request is under way is idle, also one that has never sent any. Where there are too many,
/// the one that has been idle longest makes room: so a client that only holds connections keeps no other out.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    most_of_one: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    by_number: HashMap<u64, OpenConnection>,
    of: HashMap<IpAddr, usize>,
    /// The idle ones, in the order in which they became so.
    idle: BTreeMap<u64, u64>,
    clock: u64,
}

#[derive(Debug)]
struct OpenConnection {
    address: IpAddr,
    /// The connection's place among the idle ones; `None` while a request is under way.
    idle: Option<u64>,
    eviction: Arc<Notify>,
}

/// A connection's place among those that are open, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    eviction: Arc<Notify>,
}

/// That a request is under way on a connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionUse {
    place: Arc<ConnectionSlot>,
    is_kept: bool,
}

impl Connections {
    /// `most` in all, `most_of_one` of one address.
    pub(crate) fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_one, open: Mutex::default() })
    }

    /// A place for a new connection, an idle one's where all are taken; `None` where none of those is idle. Constant time
    /// below the bounds, linear in the connections at them.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Arc<ConnectionSlot>> {
        let mut open = self.open.lock();
        if open.of.get(&address).copied().unwrap_or_default() >= self.most_of_one {
            open.evict_of(address)?;
        }
        if open.by_number.len() >= self.most {
            // Of the address with the most: other addresses keep theirs.
            let most = open.of.iter().max_by_key(|(_, count)| **count).map(|(address, _)| *address);
            most.and_then(|address| open.evict_of(address)).or_else(|| open.evict_any())?;
        }
        open.clock += 1;
        let (number, eviction) = (open.clock, Arc::new(Notify::new()));
        let known = OpenConnection { address, idle: Some(number), eviction: Arc::clone(&eviction) };
        open.by_number.insert(number, known);
        open.idle.insert(number, number);
        *open.of.entry(address).or_default() += 1;
        Some(Arc::new(ConnectionSlot { connections: Arc::clone(self), number, eviction }))
    }

    /// The number of connections, and of idle ones.
    pub(crate) fn size(&self) -> (usize, usize) {
        let open = self.open.lock();
        (open.by_number.len(), open.idle.len())
    }
}

impl OpenConnections {
    fn evict_of(&mut self, address: IpAddr) -> Option<()> {
        let mut idle = self.idle.values();
        let oldest = *idle.find(|number| self.by_number.get(number).is_some_and(|known| known.address == address))?;
        self.evict(oldest)
    }

    fn evict_any(&mut self) -> Option<()> {
        let oldest = *self.idle.first_key_value()?.1;
        self.evict(oldest)
    }

    fn evict(&mut self, number: u64) -> Option<()> {
        self.forget(number)?.eviction.notify_one();
        Some(())
    }

    fn forget(&mut self, number: u64) -> Option<OpenConnection> {
        let known = self.by_number.remove(&number)?;
        if let Some(idle) = known.idle {
            self.idle.remove(&idle);
        }
        if let Some(count) = self.of.get_mut(&known.address) {
            *count -= 1;
            if *count == 0 {
                self.of.remove(&known.address);
            }
        }
        Some(known)
    }
}

impl ConnectionSlot {
    /// Says that a request is under way.
    pub(crate) fn begin(self: &Arc<Self>) -> ConnectionUse {
        let mut open = self.connections.open.lock();
        if let Some(since) = open.by_number.get_mut(&self.number).and_then(|known| known.idle.take()) {
            open.idle.remove(&since);
        }
        ConnectionUse { place: Arc::clone(self), is_kept: false }
    }

    /// Done when the connection has to make room for another.
    pub(crate) async fn eviction(&self) {
        self.eviction.notified().await;
    }
}

impl ConnectionUse {
    /// The connection carries something else than requests and answers from now on, and is never idle again.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for ConnectionUse {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let mut open = self.place.connections.open.lock();
        open.clock += 1;
        let now = open.clock;
        if let Some(known) = open.by_number.get_mut(&self.place.number) {
            known.idle = Some(now);
            open.idle.insert(now, self.place.number);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.open.lock().forget(self.number);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn is_evicted(place: &ConnectionSlot) -> bool {
        let waker = std::task::Waker::noop();
        let notified = std::pin::pin!(place.eviction());
        notified.poll(&mut std::task::Context::from_waker(waker)).is_ready()
    }

    #[test]
    fn the_longest_idle_makes_room() {
        let connections = Connections::new(3, 3);
        let places: Vec<Arc<ConnectionSlot>> = (0..3).map(|_| connections.take(address(1)).unwrap()).collect();
        drop(places[0].begin()); // it was used since the others came
        let _fourth = connections.take(address(1)).unwrap();
        assert_eq!(places.iter().map(|place| is_evicted(place)).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(connections.size(), (3, 3));
    }

    #[test]
    fn whoever_has_most_makes_room() {
        let connections = Connections::new(3, 3);
        let other = connections.take(address(2)).unwrap();
        let most = [connections.take(address(1)).unwrap(), connections.take(address(1)).unwrap()];
        let _new = connections.take(address(3)).unwrap();
        assert!(!is_evicted(&other) && is_evicted(&most[0]) && !is_evicted(&most[1]));
    }

    #[test]
    fn what_is_used_stays() {
        let connections = Connections::new(2, 1);
        let first = connections.take(address(1)).unwrap();
        let used = first.begin();
        assert!(connections.take(address(1)).is_none(), "one of an address, and it is used");
        let second = connections.take(address(2)).unwrap();
        let _used = second.begin();
        assert!(connections.take(address(3)).is_none(), "two in all, and both are used");
        drop(used);
        assert!(connections.take(address(3)).is_some() && is_evicted(&first));
    }

    #[test]
    fn what_goes_on_as_something_else_is_never_idle() {
        let connections = Connections::new(1, 1);
        let place = connections.take(address(1)).unwrap();
        place.begin().keep();
        assert!(connections.take(address(1)).is_none());
        drop(place);
        assert!(connections.take(address(1)).is_some());
    }

    #[test]
    fn nothing_is_kept_of_what_is_closed() {
        let connections = Connections::new(2, 2);
        let place = connections.take(address(1)).unwrap();
        let used = place.begin();
        drop(place);
        assert_eq!(connections.size(), (1, 0), "a request is under way");
        drop(used);
        assert_eq!(connections.size(), (0, 0));
        let open = connections.open.lock();
        assert!(open.of.is_empty() && open.idle.is_empty());
    }
}
