//! When a request is sent again.

#[cfg(feature = "http")]
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
#[cfg(feature = "http")]
use std::time::SystemTime;

#[cfg(feature = "http")]
use super::HttpError;

/// The number of tries of a request, and the waits in between: twice as long each time, or as long as the service asks.
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

#[cfg(feature = "http")]
impl RetryPolicy {
    /// The wait after `error`, the outcome of try number `n_tries`; `None` after the last try. A wait that the service
    /// did not name is lengthened by up to a quarter at random, so that many clients do not come back as one.
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

/// The wait that an answer asks for, by its headers: milliseconds (`retry-after-ms`, which is not in the standard), seconds or
/// a date (`retry-after`). A date is compared with the answer's own, so that it does not matter whether two clocks agree; one
/// that is over means no wait.
#[cfg(feature = "http")]
pub(crate) fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let seconds = |number: &str| Duration::try_from_secs_f64(number.trim().parse().ok()?).ok();
    if let Some(wait) = header("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let asked = header("retry-after")?;
    if let Some(wait) = seconds(asked) {
        return Some(wait);
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    let now = header("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(all(test, feature = "http"))]
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
        let check = |headers: &[(&str, &'static str)], expect: Option<u64>| {
            let value = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            assert_eq!(retry_after(value), expect.map(Duration::from_millis), "{headers:?}");
        };
        check(&[], None);
        check(&[("retry-after", " 2 ")], Some(2000));
        check(&[("retry-after", "0.5")], Some(500));
        check(&[("retry-after", "9"), ("retry-after-ms", "250")], Some(250));
        check(&[("retry-after", "9"), ("retry-after-ms", "soon")], Some(9000));
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        check(&[("retry-after", "Sun, 06 Nov 1994 08:50:00 GMT"), date], Some(23_000));
        check(&[("retry-after", "Sun Nov  6 08:49:38 1994"), date], Some(1000));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date], Some(0));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
        for value in ["", "-1", "NaN", "inf", "1e300", "tomorrow"] {
            check(&[("retry-after", value)], None);
        }
    }
}
