//! Facts about the service that later summaries use.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use epitome_strategy::{Clock, Tokens, lock};

use super::ask::AskFailure;

/// A smaller limit than this is not a window: the service meant something else, or was read wrongly.
const LEAST_LIMIT: Tokens = 512;

/// The known facts of the service; shared by all clones of a summarizer.
#[derive(Debug)]
pub(super) struct Service {
    /// The time for which a service that answers no request is not asked.
    rest: Duration,
    clock: Clock,
    /// When, by the clock, and why it answered none.
    down: Mutex<Option<(Duration, AskFailure)>>,
    /// The tokens that it named as the most it takes; `Tokens::MAX` where it named none.
    limit: AtomicU32,
}

impl Service {
    pub(super) fn new(rest: Duration) -> Self {
        Self { rest, clock: Clock::default(), down: Mutex::default(), limit: AtomicU32::new(Tokens::MAX) }
    }

    /// Why the service is not to be asked, where it has just failed in a way that every request would.
    pub(super) fn failure(&self) -> Option<AskFailure> {
        let down = lock(&self.down);
        let (since, failure) = down.as_ref()?;
        (self.clock.now().saturating_sub(*since) < self.rest).then(|| failure.clone())
    }

    /// Notes that every request would fail like this.
    pub(super) fn note_failure(&self, failure: AskFailure) {
        *lock(&self.down) = Some((self.clock.now(), failure));
    }

    /// Notes that the service answers.
    pub(super) fn note_answer(&self) {
        *lock(&self.down) = None;
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
}
