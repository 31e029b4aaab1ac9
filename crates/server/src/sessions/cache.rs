//! Sessions in memory that are not worked on at the moment.

use epitome_shelf::WeighedLru;
use parking_lot::Mutex;

use super::key::SessionKey;
use super::opened::CachedSession;

/// Sessions that are held in memory, within bounds. What was used least recently is forgotten first: the store has it.
#[derive(Debug)]
pub(super) struct Cache {
    most: usize,
    most_bytes: usize,
    sessions: Mutex<WeighedLru<SessionKey, CachedSession>>,
}

impl Cache {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self { most, most_bytes, sessions: Mutex::default() }
    }

    /// Takes a session out, to be worked on. It is forgotten unless it is [`put`](Self::put) back.
    pub(super) fn take(&self, key: &SessionKey) -> Option<CachedSession> {
        self.sessions.lock().remove(key)
    }

    /// Puts a session in, as it is stored.
    pub(super) fn put(&self, key: &SessionKey, session: CachedSession) {
        let mut sessions = self.sessions.lock();
        let bytes = session.bytes();
        let mut forgotten = Vec::from_iter(sessions.remove(key));
        sessions.insert(key.clone(), session, bytes);
        while sessions.len() > self.most || sessions.bytes() > self.most_bytes {
            let Some((_, oldest)) = sessions.pop() else { break };
            forgotten.push(oldest);
        }
        drop(sessions);
        // A large session takes time to be dropped: not on the caller's time.
        if let Ok(threads) = tokio::runtime::Handle::try_current()
            && !forgotten.is_empty()
        {
            threads.spawn_blocking(move || drop(forgotten));
        }
    }

    /// Sessions and their bytes.
    pub(super) fn size(&self) -> (usize, usize) {
        let sessions = self.sessions.lock();
        (sessions.len(), sessions.bytes())
    }
}
