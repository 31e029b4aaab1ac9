//! The time, as far as the library needs it: to report how long something took, and to let a failed service rest.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A clock that never goes back: the time since a moment of its own choice. Clones tell the same time.
///
/// No plan depends on it; how long a model that failed rests does. [`Clock::default`] is the system's, where the platform has one; on `wasm32-unknown-unknown` the
/// standard library has none, and time stands still: durations are reported as 0. A host that has a clock there gives it with
/// [`Clock::from_fn`].
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// The clock that `read` tells the time of: the time since a moment that stays the same.
    pub fn from_fn(read: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The system's clock.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    fn of_platform() -> Self {
        let start = std::time::Instant::now();
        Self::from_fn(move || start.elapsed())
    }

    /// The platform has no clock.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn of_platform() -> Self {
        Self::from_fn(|| Duration::ZERO)
    }

    /// The time.
    pub fn now(&self) -> Duration {
        (self.0)()
    }

    /// The time since `moment`, in microseconds; 0 where that is ahead.
    pub fn microseconds_since(&self, moment: Duration) -> u64 {
        u64::try_from(self.now().saturating_sub(moment).as_micros()).unwrap_or(u64::MAX)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::of_platform()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Clock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_clock_tells_what_its_host_reads() {
        let check = |first: u64, second: u64, expect: u64| {
            let time = Arc::new(AtomicU64::new(first));
            let read = Arc::clone(&time);
            let clock = Clock::from_fn(move || Duration::from_micros(read.load(Ordering::Relaxed)));
            let moment = clock.now();
            time.store(second, Ordering::Relaxed);
            assert_eq!(clock.clone().microseconds_since(moment), expect, "{first} {second}");
        };
        check(5, 12, 7);
        check(5, 5, 0);
        check(12, 5, 0);
    }

    #[test]
    fn the_clock_of_the_platform_goes_on() {
        let clock = Clock::default();
        let moment = clock.now();
        while clock.now() == moment {}
        assert!(clock.now() > moment);
    }
}
