//! Backoff for models that gave no summary of a session: each is left alone for a while before it is asked again.

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

/// The models that gave no summary of one session and are not asked again for now. Clones share the memory.
///
/// A model is remembered for half an hour, or until the session has become a different one: twice as long as it was
/// then, or shorter.
#[derive(Debug, Clone, Default)]
pub struct ModelBackoff {
    failed: Arc<Mutex<HashMap<String, FailedRequest>>>,
    clock: Clock,
}

#[derive(Debug, Clone, Copy)]
struct FailedRequest {
    /// By the clock.
    at: Duration,
    messages: usize,
}

impl ModelBackoff {
    /// Whether `model` is not to be asked yet about a session of this many messages.
    pub fn must_wait(&self, model: &str, messages: usize) -> bool {
        self.must_wait_at(model, messages, self.clock.now())
    }

    /// Records that `model` gave no summary of a session of this many messages.
    pub fn record(&self, model: &str, messages: usize) {
        lock(&self.failed).insert(model.to_owned(), FailedRequest { at: self.clock.now(), messages });
    }

    /// Forgets all models: each is asked again.
    pub fn clear(&self) {
        lock(&self.failed).clear();
    }

    /// Returns how many models are recorded.
    pub fn len(&self) -> usize {
        lock(&self.failed).len()
    }

    /// Whether no model is recorded.
    pub fn is_empty(&self) -> bool {
        lock(&self.failed).is_empty()
    }

    fn must_wait_at(&self, model: &str, messages: usize, now: Duration) -> bool {
        let mut backoff = lock(&self.failed);
        let Some(failure) = backoff.get(model) else { return false };
        let most = (failure.messages * 2).max(failure.messages + LEAST_GROWTH);
        let must_wait = now.saturating_sub(failure.at) < REST && (failure.messages..most).contains(&messages);
        if !must_wait {
            backoff.remove(model);
        }
        must_wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_waits_until_time_or_the_session_has_changed() {
        let check = |messages: usize, later: Duration, expect: bool| {
            let backoff = ModelBackoff::default();
            backoff.record("m", 100);
            assert_eq!(
                backoff.clone().must_wait_at("m", messages, backoff.clock.now() + later),
                expect,
                "{messages} {later:?}"
            );
            assert_eq!(backoff.is_empty(), !expect, "what is over is forgotten");
            assert!(!backoff.must_wait("other", messages));
        };
        check(100, Duration::ZERO, true);
        check(199, REST / 2, true);
        check(200, Duration::ZERO, false);
        check(99, Duration::ZERO, false);
        check(100, REST, false);
        let backoff = ModelBackoff::default();
        backoff.record("m", 3);
        assert!(backoff.must_wait("m", 3 + LEAST_GROWTH - 1), "a short session doubles at once");
        backoff.clear();
        assert!(!backoff.must_wait("m", 3));
    }
}
