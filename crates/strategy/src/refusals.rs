//! What a session remembers of models that gave no summary of it, so that they are not asked in vain again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a model is not asked again. Whoever asks it each time pays for a request of the whole session, twice; a
/// session that a person works on for an hour has it tried twice.
const REST: Duration = Duration::from_secs(30 * 60);

/// How many messages have to come, at least, before a session counts as another one.
const LEAST_GROWTH: usize = 20;

/// The models that gave no summary of one session. Clones are the same memory.
///
/// A model is remembered for half an hour, or until the session is another one: twice as long as it was then, or shorter.
#[derive(Debug, Clone, Default)]
pub struct Refusals(Arc<Mutex<HashMap<String, Refusal>>>);

#[derive(Debug, Clone, Copy)]
struct Refusal {
    at: Instant,
    messages: usize,
}

impl Refusals {
    /// Whether `model` is to be left alone with a session of so many messages.
    pub fn holds(&self, model: &str, messages: usize) -> bool {
        self.holds_at(model, messages, Instant::now())
    }

    /// Notes that `model` gave no summary of a session of so many messages.
    pub fn note(&self, model: &str, messages: usize) {
        self.lock().insert(model.to_owned(), Refusal { at: Instant::now(), messages });
    }

    /// Forgets all of them: each is asked again.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// How many models were noted so far.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no model was noted.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn holds_at(&self, model: &str, messages: usize, now: Instant) -> bool {
        let mut refusals = self.lock();
        let Some(refusal) = refusals.get(model) else { return false };
        let most = (refusal.messages * 2).max(refusal.messages + LEAST_GROWTH);
        let holds = now.saturating_duration_since(refusal.at) < REST && (refusal.messages..most).contains(&messages);
        if !holds {
            refusals.remove(model);
        }
        holds
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Refusal>> {
        // An entry is written whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
                refusals.clone().holds_at("m", messages, Instant::now() + later),
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
