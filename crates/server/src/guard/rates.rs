//! How many requests a tenant may make in a minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use crate::http::ApiError;

/// The rates of all tenants.
#[derive(Debug)]
pub(super) struct Rates {
    /// Requests in a minute; 0 for no limit.
    most: f64,
    left: Mutex<HashMap<Arc<str>, Rate>>,
}

/// What a tenant may still ask for.
#[derive(Debug)]
struct Rate {
    left: f64,
    since: Instant,
}

impl Rates {
    /// `most` requests in a minute; 0 for as many as there are.
    pub(super) fn new(most: u32) -> Self {
        Self { most: f64::from(most), left: Mutex::default() }
    }

    /// Takes one request off what a tenant may ask for in a minute.
    pub(super) fn take(&self, tenant: &Arc<str>) -> Result<(), ApiError> {
        let most = self.most;
        if most == 0.0 {
            return Ok(());
        }
        let now = Instant::now();
        let mut rates = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = rates.entry(Arc::clone(tenant)).or_insert(Rate { left: most, since: now });
        let refilled = now.duration_since(rate.since).as_secs_f64() * most / 60.0;
        (rate.left, rate.since) = ((rate.left + refilled).min(most), now);
        if rate.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - rate.left) * 60.0 / most);
            let message = format!("more than {most} requests in a minute");
            let help = "wait as long as Retry-After says; --requests-per-minute sets the limit";
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(ApiError::new(status, "too-many-requests", message, help).retry_after(wait));
        }
        rate.left -= 1.0;
        Ok(())
    }
}
