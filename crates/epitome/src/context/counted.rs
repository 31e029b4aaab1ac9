//! The counts of a view that is read again and again.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_engine::{Engine, Ledger};
use epitome_session::{EntryKey, Message, Session};
use epitome_strategy::EntryTokens;

/// Counts the view of a session that is read again and again, from a file that grows: only messages that are new or other
/// than before are counted.
#[derive(Debug)]
pub struct ViewCounts {
    /// Counts messages, and holds none.
    ledger: Ledger,
    known: HashMap<EntryKey, (Arc<Message>, EntryTokens)>,
}

impl ViewCounts {
    /// Returns the counts of no message yet, by the engine's counter.
    pub fn new(engine: &Engine) -> Self {
        Self { ledger: engine.ledger(&Session::new()), known: HashMap::new() }
    }

    /// Returns the counts of the session's view, in order. Counts what is new or changed; the rest is compared with what
    /// was counted before, and costs that.
    pub fn count(&mut self, session: &Session) -> Vec<EntryTokens> {
        let mut known = HashMap::with_capacity(session.view().len());
        let mut counts = Vec::with_capacity(session.view().len());
        for entry in session.view() {
            let counted = match self.known.remove(&entry.key) {
                Some((message, tokens)) if Arc::ptr_eq(&message, &entry.message) || message == entry.message => tokens,
                _ => self.ledger.measure(&entry.message),
            };
            known.insert(entry.key, (Arc::clone(&entry.message), counted.clone()));
            counts.push(counted);
        }
        self.known = known;
        counts
    }
}
