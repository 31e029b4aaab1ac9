//! What summaries have learned of the service, for those that come after them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use epitome_strategy::Tokens;

use super::ask::AskFailure;

/// A smaller limit than this is no window: the service meant something else, or was read wrongly.
const LEAST_LIMIT: Tokens = 512;

/// What is known of the service; shared by all clones of a summarizer.
#[derive(Debug)]
pub(super) struct Service {
    /// How long a service that answers no request is left alone.
    rest: Duration,
    /// When and why it answered none.
    down: Mutex<Option<(Instant, AskFailure)>>,
    /// The tokens that it named as the most it takes; `Tokens::MAX` where it named none.
    limit: AtomicU32,
}

impl Service {
    pub(super) fn new(rest: Duration) -> Self {
        Self { rest, down: Mutex::default(), limit: AtomicU32::new(Tokens::MAX) }
    }

    /// Why the service is not to be asked, where it has just failed in a way that every request would.
    pub(super) fn failure(&self) -> Option<AskFailure> {
        let down = self.state();
        let (since, failure) = down.as_ref()?;
        (since.elapsed() < self.rest).then(|| failure.clone())
    }

    /// Notes that every request would fail like this.
    pub(super) fn note_failure(&self, failure: AskFailure) {
        *self.state() = Some((Instant::now(), failure));
    }

    /// Notes that the service answers.
    pub(super) fn note_answer(&self) {
        *self.state() = None;
    }

    /// The most tokens that it takes, as far as it has said.
    pub(super) fn limit(&self) -> Tokens {
        self.limit.load(Ordering::Relaxed)
    }

    /// Notes the limit that a refusal named; whether it is a smaller one than `window`, so that it helps to go by it.
    pub(super) fn learn(&self, limit: Option<Tokens>, window: Tokens) -> bool {
        let Some(limit) = limit.filter(|limit| (LEAST_LIMIT..window).contains(limit)) else { return false };
        self.limit.fetch_min(limit, Ordering::Relaxed);
        true
    }

    fn state(&self) -> MutexGuard<'_, Option<(Instant, AskFailure)>> {
        self.down.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
