//! When a request is sent again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::HttpError;

/// How often a request is tried, and how long is waited in between: twice as long each time, or as long as the service asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most tries, the first included; 0 counts as 1.
    pub tries: u32,
    /// The wait before the second try.
    pub first_wait: Duration,
    /// The longest wait. A service that asks for a longer one is not asked again.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    /// Three tries, half a second and a second apart, waiting at most 30 seconds.
    fn default() -> Self {
        Self { tries: 3, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(30) }
    }
}

impl RetryPolicy {
    /// How long to wait after `error`, the outcome of try number `n_tries`; `None` where there is no other try. A wait that the
    /// service did not name is lengthened by up to a quarter at random, so that many clients do not come back as one.
    pub(crate) fn wait_after(&self, n_tries: u32, error: &HttpError) -> Option<Duration> {
        if n_tries >= self.tries || !error.is_retryable() {
            return None;
        }
        if let Some(asked) = error.retry_after() {
            return (asked <= self.longest_wait).then_some(asked);
        }
        let doubled = self.first_wait.saturating_mul(1 << n_tries.saturating_sub(1).min(16)).min(self.longest_wait);
        let random = RandomState::new().hash_one(n_tries) % 256;
        Some((doubled + doubled.mul_f64(random as f64 / 1024.0)).min(self.longest_wait))
    }
}

/// The wait that a `Retry-After` header asks for, where it is a number of seconds.
pub(crate) fn retry_after(header: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(header.trim().parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(retry_after: Option<u64>) -> HttpError {
        let retry_after = retry_after.map(Duration::from_secs);
        HttpError::Status { url: String::new(), status: 429, body: String::new(), retry_after }
    }

    #[test]
    fn waits() {
        let policy = RetryPolicy::default();
        let within = |n_tries, from: u64, to: u64| {
            let wait = policy.wait_after(n_tries, &busy(None)).map(|wait| wait.as_millis());
            assert!(wait.is_some_and(|wait| (u128::from(from)..=u128::from(to)).contains(&wait)), "{wait:?}");
        };
        within(1, 500, 625);
        within(2, 1000, 1250);
        assert_eq!(policy.wait_after(3, &busy(None)), None, "three tries are all");
        assert_eq!(policy.wait_after(1, &busy(Some(7))), Some(Duration::from_secs(7)));
        assert_eq!(policy.wait_after(1, &busy(Some(3600))), None, "nobody waits an hour");
        let refused = HttpError::Status { url: String::new(), status: 401, body: String::new(), retry_after: None };
        assert_eq!(policy.wait_after(1, &refused), None);
        let many = RetryPolicy { tries: u32::MAX, ..policy };
        assert_eq!(many.wait_after(60, &busy(None)), Some(policy.longest_wait));
    }

    #[test]
    fn headers() {
        assert_eq!(retry_after(" 2 "), Some(Duration::from_secs(2)));
        assert_eq!(retry_after("0.5"), Some(Duration::from_millis(500)));
        for header in ["", "-1", "NaN", "inf", "1e300", "Wed, 21 Oct 2015 07:28:00 GMT"] {
            assert_eq!(retry_after(header), None, "{header}");
        }
    }
}
