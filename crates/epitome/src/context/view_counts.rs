//! The counts of a view that is read again and again.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_engine::{Engine, Ledger, calibration_requests};
use epitome_session::{EntryKey, Message, Session};
use epitome_strategy::EntryTokens;

/// Counts the view of a session that is read again and again, from a file that grows: only messages that are new or other
/// than before are counted.
#[derive(Debug)]
pub struct ViewCounts {
    engine: Engine,
    /// Counts messages, and holds none.
    ledger: Ledger,
    /// By how many requests the counter is corrected.
    learned: usize,
    known: HashMap<EntryKey, (Arc<Message>, EntryTokens)>,
}

impl ViewCounts {
    /// Returns the counts of no message yet, by the engine's counter.
    pub fn new(engine: &Engine) -> Self {
        Self { engine: engine.clone(), ledger: engine.ledger(&Session::new()), learned: 0, known: HashMap::new() }
    }

    /// Returns the ledger that counts as the session does that was counted last, and holds nothing.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the counts of the session's view, in order. Counts what is new or changed; the rest is compared with what
    /// was counted before, and costs that. All is counted again where the session's counter has learned of more requests.
    pub fn count(&mut self, session: &Session) -> Vec<EntryTokens> {
        let learned = calibration_requests(session);
        if self.known.is_empty() || learned != self.learned {
            self.ledger = self.engine.empty_ledger(session);
            self.learned = learned;
            self.known.clear();
        }
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
