//! Limits the requests of a tenant in a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shared_rates::{DatabaseUnavailable, SharedRates};
use crate::http::{ApiError, Problem};
use parking_lot::Mutex;

/// The rates of all tenants.
#[derive(Debug)]
pub(super) struct Rates {
    /// Requests in a minute; 0 for no limit.
    most: f64,
    /// Of this instance alone.
    left: Mutex<HashMap<Arc<str>, Rate>>,
    /// Of all instances, where they share them.
    shared: Option<SharedRates>,
}

/// The requests that a tenant has left.
#[derive(Debug)]
struct Rate {
    left: f64,
    since: Instant,
}

/// Who has counted a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedBy {
    /// All that were to count it.
    Everyone,
    /// This instance alone, because the database that all share does not answer.
    ThisInstance,
}

impl Rates {
    /// `most` requests in a minute; 0 for as many as there are. Over all instances where `shared` leads to them.
    pub(super) fn new(most: u32, shared: Option<SharedRates>) -> Self {
        Self { most: f64::from(most), left: Mutex::default(), shared: shared.filter(|_| most > 0) }
    }

    /// Takes one request off what a tenant may ask for in a minute. Waits for the database for at most a second, and for most
    /// requests not at all.
    pub(super) async fn take(&self, tenant: &Arc<str>) -> Result<CountedBy, ApiError> {
        let Some(shared) = &self.shared else {
            return self.take_here(tenant).map(|()| CountedBy::Everyone);
        };
        match shared.take(tenant).await {
            Ok(granted) => granted.map(|()| CountedBy::Everyone).map_err(|wait| self.refusal(wait)),
            Err(DatabaseUnavailable) => self.take_here(tenant).map(|()| CountedBy::ThisInstance),
        }
    }

    fn take_here(&self, tenant: &Arc<str>) -> Result<(), ApiError> {
        let most = self.most;
        if most == 0.0 {
            return Ok(());
        }
        let now = Instant::now();
        let mut rates = self.left.lock();
        let rate = rates.entry(Arc::clone(tenant)).or_insert(Rate { left: most, since: now });
        let refilled = now.duration_since(rate.since).as_secs_f64() * most / 60.0;
        (rate.left, rate.since) = ((rate.left + refilled).min(most), now);
        if rate.left < 1.0 {
            return Err(self.refusal(Duration::from_secs_f64((1.0 - rate.left) * 60.0 / most)));
        }
        rate.left -= 1.0;
        Ok(())
    }

    fn refusal(&self, wait: Duration) -> ApiError {
        let message = format!("more than {} requests in a minute", self.most);
        Problem::TooManyRequests.with(message).retry_after(wait)
    }
}
