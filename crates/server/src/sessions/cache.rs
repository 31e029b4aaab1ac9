//! Sessions in memory that nobody works on at the moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key::Key;
use super::opened::Opened;

/// Sessions that are held in memory, within bounds. What was used least recently is forgotten first: the store has it.
#[derive(Debug)]
pub(super) struct Cache {
    most: usize,
    most_bytes: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<Key, (Opened, u64)>,
    by_use: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

impl Cache {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self { most, most_bytes, known: Mutex::default() }
    }

    /// Takes a session out, to be worked on. Whoever does not [`put`](Self::put) it back has it forgotten.
    pub(super) fn take(&self, key: &Key) -> Option<Opened> {
        self.lock().remove(key)
    }

    /// Puts a session in, as it is stored.
    pub(super) fn put(&self, key: &Key, session: Opened) {
        let mut known = self.lock();
        known.remove(key);
        known.clock += 1;
        let used = known.clock;
        known.bytes += session.bytes();
        known.by_use.insert(used, key.clone());
        known.sessions.insert(key.clone(), (session, used));
        let mut forgotten = Vec::new();
        while known.sessions.len() > self.most || known.bytes > self.most_bytes {
            let Some((_, oldest)) = known.by_use.first_key_value() else { break };
            let oldest = oldest.clone();
            forgotten.extend(known.remove(&oldest));
        }
        drop(known);
        // Large sessions take their time to be dropped; nobody waits for it.
        if let Ok(threads) = tokio::runtime::Handle::try_current()
            && !forgotten.is_empty()
        {
            threads.spawn_blocking(move || drop(forgotten));
        }
    }

    /// Sessions and their bytes.
    pub(super) fn size(&self) -> (usize, usize) {
        let known = self.lock();
        (known.sessions.len(), known.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // The maps are whole between any two statements that can panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn remove(&mut self, key: &Key) -> Option<Opened> {
        let (session, used) = self.sessions.remove(key)?;
        self.by_use.remove(&used);
        self.bytes = self.bytes.saturating_sub(session.bytes());
        Some(session)
    }
}
