//! The models that gave no summary of a session, remembered so that they are not asked in vain again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::lock::lock;

/// How long a model is not asked again. Each attempt pays for a request of the whole session, twice; in a session of
/// one hour the model is tried twice.
const REST: Duration = Duration::from_secs(30 * 60);

/// The fewest new messages that make a session a different one.
const LEAST_GROWTH: usize = 20;

/// The models that gave no summary of one session. Clones share the memory.
///
/// A model is remembered for half an hour, or until the session has become a different one: twice as long as it was
/// then, or shorter.
#[derive(Debug, Clone, Default)]
pub struct Refusals {
    noted: Arc<Mutex<HashMap<String, Refusal>>>,
    clock: Clock,
}

#[derive(Debug, Clone, Copy)]
struct Refusal {
    /// By the clock.
    at: Duration,
    messages: usize,
}

impl Refusals {
    /// Whether `model` is not to be asked about a session of this many messages.
    pub fn holds(&self, model: &str, messages: usize) -> bool {
        self.holds_at(model, messages, self.clock.now())
    }

    /// Records that `model` gave no summary of a session of this many messages.
    pub fn note(&self, model: &str, messages: usize) {
        lock(&self.noted).insert(model.to_owned(), Refusal { at: self.clock.now(), messages });
    }

    /// Forgets all models: each is asked again.
    pub fn clear(&self) {
        lock(&self.noted).clear();
    }

    /// Returns how many models are recorded.
    pub fn len(&self) -> usize {
        lock(&self.noted).len()
    }

    /// Whether no model is recorded.
    pub fn is_empty(&self) -> bool {
        lock(&self.noted).is_empty()
    }

    fn holds_at(&self, model: &str, messages: usize, now: Duration) -> bool {
        let mut refusals = lock(&self.noted);
        let Some(refusal) = refusals.get(model) else { return false };
        let most = (refusal.messages * 2).max(refusal.messages + LEAST_GROWTH);
        let holds = now.saturating_sub(refusal.at) < REST && (refusal.messages..most).contains(&messages);
        if !holds {
            refusals.remove(model);
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_until_time_or_the_session_has_changed() {
        let check = |messages: usize, later: Duration, expect: bool| {
            let refusals = Refusals::default();
            refusals.note("m", 100);
            assert_eq!(
                refusals.clone().holds_at("m", messages, refusals.clock.now() + later),
                expect,
                "{messages} {later:?}"
            );
            assert_eq!(refusals.is_empty(), !expect, "what holds no more is forgotten");
            assert!(!refusals.holds("other", messages));
        };
        check(100, Duration::ZERO, true);
        check(199, REST / 2, true);
        check(200, Duration::ZERO, false);
        check(99, Duration::ZERO, false);
        check(100, REST, false);
        let refusals = Refusals::default();
        refusals.note("m", 3);
        assert!(refusals.holds("m", 3 + LEAST_GROWTH - 1), "a short session doubles at once");
        refusals.clear();
        assert!(!refusals.holds("m", 3));
    }
}
