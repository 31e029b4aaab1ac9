//! Indexes of sessions that were searched: each grows with its session, and all together are bounded.

use std::sync::Arc;

use epitome::lookup::LogIndex;
use epitome_shelf::WeighedLru;
use parking_lot::Mutex;

use super::key::SessionKey;

/// Bytes that an index takes for each byte of its session: the terms with their places, and the messages, which it holds
/// also when the session itself is forgotten. Source: 1.3 for the terms of recorded sessions, and the messages.
const FACTOR: usize = 2;

/// Indexes in memory, within bounds. What was used least recently is forgotten first, and built again when it is asked for.
#[derive(Debug)]
pub(super) struct Indexes {
    most_bytes: usize,
    known: Mutex<WeighedLru<SessionKey, Arc<Mutex<LogIndex>>>>,
}

impl Indexes {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, known: Mutex::default() }
    }

    /// The index of a session that takes `bytes` itself; an empty one where none is known. Its holder brings it up to
    /// date.
    pub(super) fn index(&self, key: &SessionKey, bytes: usize) -> Arc<Mutex<LogIndex>> {
        let mut known = self.known.lock();
        let index = known.remove(key).unwrap_or_default();
        let bytes = bytes.saturating_mul(FACTOR);
        if bytes > self.most_bytes {
            return index; // for this once
        }
        known.insert(key.clone(), Arc::clone(&index), bytes);
        while known.bytes() > self.most_bytes && known.pop().is_some() {}
        index
    }

    /// Forgets the index of a session that is deleted.
    pub(super) fn forget(&self, key: &SessionKey) {
        self.known.lock().remove(key);
    }

    /// Indexes and the bytes that they take, near enough.
    pub(super) fn size(&self) -> (usize, usize) {
        let known = self.known.lock();
        (known.len(), known.bytes())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome::store::Tenant;

    use super::*;

    #[test]
    fn what_is_not_used_is_forgotten() {
        let indexes = Indexes::new(1_000);
        let key = |name: &str| -> SessionKey { (Tenant::new("t").unwrap(), Arc::from(name)) };
        let first = indexes.index(&key("a"), 100);
        for number in 0..20 {
            indexes.index(&key(&number.to_string()), 100);
            assert!(Arc::ptr_eq(&indexes.index(&key("a"), 100), &first), "what is used stays: {number}");
            assert!(indexes.size().1 <= 1_000, "{:?}", indexes.size());
        }
        assert_eq!(indexes.size(), (5, 1_000));
        indexes.index(&key("large"), 501);
        assert_eq!(indexes.size(), (5, 1_000), "one that is too large is not kept");
        indexes.forget(&key("a"));
        assert!(!Arc::ptr_eq(&indexes.index(&key("a"), 100), &first));
    }
}
