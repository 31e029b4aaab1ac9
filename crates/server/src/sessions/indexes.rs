//! Indexes of sessions that were searched: each grows with its session, and all together are bounded.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome_mcp::LogIndex;

use super::key::Key;

/// Bytes that an index takes for each byte of its session: the terms with their places, and the messages, which it holds
/// also when the session itself is forgotten. Source: 1.3 for the terms of recorded sessions, and the messages.
const FACTOR: usize = 2;

/// Indexes in memory, within bounds. What was used least recently is forgotten first, and built again when it is asked for.
#[derive(Debug)]
pub(super) struct Indexes {
    most_bytes: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    indexes: HashMap<Key, Kept>,
    by_use: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    index: Arc<Mutex<LogIndex>>,
    bytes: usize,
    used: u64,
}

impl Indexes {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, known: Mutex::default() }
    }

    /// The index of a session that takes `bytes` itself; an empty one where none is known. Whoever has it brings it up to
    /// date.
    pub(super) fn of(&self, key: &Key, bytes: usize) -> Arc<Mutex<LogIndex>> {
        let mut known = self.lock();
        let index = known.remove(key).map(|kept| kept.index).unwrap_or_default();
        let bytes = bytes.saturating_mul(FACTOR);
        if bytes > self.most_bytes {
            return index; // for this once
        }
        known.clock += 1;
        let used = known.clock;
        known.bytes += bytes;
        known.by_use.insert(used, key.clone());
        known.indexes.insert(key.clone(), Kept { index: Arc::clone(&index), bytes, used });
        while known.bytes > self.most_bytes {
            let Some((_, oldest)) = known.by_use.first_key_value() else { break };
            let oldest = oldest.clone();
            known.remove(&oldest);
        }
        index
    }

    /// Forgets the index of a session that is deleted.
    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    /// Indexes and the bytes that they take, near enough.
    pub(super) fn size(&self) -> (usize, usize) {
        let known = self.lock();
        (known.indexes.len(), known.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // The maps are whole between any two statements that can panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn remove(&mut self, key: &Key) -> Option<Kept> {
        let kept = self.indexes.remove(key)?;
        self.by_use.remove(&kept.used);
        self.bytes -= kept.bytes;
        Some(kept)
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
        let key = |name: &str| -> Key { (Tenant::new("t").unwrap(), Arc::from(name)) };
        let first = indexes.of(&key("a"), 100);
        for number in 0..20 {
            indexes.of(&key(&number.to_string()), 100);
            assert!(Arc::ptr_eq(&indexes.of(&key("a"), 100), &first), "what is used stays: {number}");
            assert!(indexes.size().1 <= 1_000, "{:?}", indexes.size());
        }
        assert_eq!(indexes.size(), (5, 1_000));
        indexes.of(&key("large"), 501);
        assert_eq!(indexes.size(), (5, 1_000), "one that is too large is not kept");
        indexes.forget(&key("a"));
        assert!(!Arc::ptr_eq(&indexes.of(&key("a"), 100), &first));
    }
}
