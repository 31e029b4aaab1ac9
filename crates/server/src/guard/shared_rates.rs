//! The requests of a tenant in a minute, over all instances on one database.
//!
//! A tenant has one bucket there. An instance takes an allowance out of it, a second's worth, and lets that many requests in
//! without asking again. What it lets in was taken off before, so all instances together never let in more than the bucket
//! held and got, and beside that what was left of their allowances from before: one second's worth each at the most.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use epitome::store::Exchange;
use parking_lot::Mutex;
use tokio::sync::Mutex as Turn;

/// Requests of the largest allowance.
const LARGEST_ALLOWANCE: u32 = 100;

/// The time that the database has for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time for which a database that did not answer is not asked again.
const AWAY_FOR: Duration = Duration::from_secs(5);

/// The database does not answer.
#[derive(Debug)]
pub(super) struct DatabaseUnavailable;

/// Requests that this instance may let in, and what it knows of the buckets.
#[derive(Debug)]
pub(super) struct SharedRates {
    exchange: Exchange,
    per_minute: u32,
    tenants: Mutex<HashMap<Arc<str>, Arc<Allowance>>>,
    /// Until when the database is not asked.
    away: Mutex<Option<Instant>>,
}

/// What a tenant may ask this instance for.
#[derive(Debug, Default)]
struct Allowance {
    state: Mutex<AllowanceState>,
    /// Its holder asks the database; others wait for what it gets.
    draw: Turn<()>,
}

#[derive(Debug, Default)]
struct AllowanceState {
    left: u32,
    /// Until when the bucket is known to be empty.
    empty_until: Option<Instant>,
}

impl Allowance {
    /// Takes a request where nobody has to be asked; the error is the time until there may be one.
    fn take(&self) -> Option<Result<(), Duration>> {
        let mut state = self.state.lock();
        if state.left > 0 {
            state.left -= 1;
            return Some(Ok(()));
        }
        let wait = state.empty_until?.saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(Err(wait))
    }
}

impl SharedRates {
    /// Buckets of `per_minute` requests, which fill with as many in a minute.
    pub(super) fn new(exchange: Exchange, per_minute: u32) -> Self {
        Self { exchange, per_minute, tenants: Mutex::default(), away: Mutex::default() }
    }

    /// Takes one request off what a tenant may ask for; the inner error is the time until there may be one more.
    pub(super) async fn take(&self, tenant: &Arc<str>) -> Result<Result<(), Duration>, DatabaseUnavailable> {
        let allowance = Arc::clone(self.tenants.lock().entry(Arc::clone(tenant)).or_default());
        if let Some(taken) = allowance.take() {
            return Ok(taken);
        }
        let _draw = allowance.draw.lock().await;
        // Somebody may have asked meanwhile.
        if let Some(taken) = allowance.take() {
            return Ok(taken);
        }
        if self.away.lock().is_some_and(|until| Instant::now() < until) {
            return Err(DatabaseUnavailable);
        }
        let wanted = (self.per_minute / 60).clamp(1, LARGEST_ALLOWANCE);
        let draw = self.exchange.draw(tenant, self.per_minute, wanted);
        let problem = match tokio::time::timeout(PATIENCE, draw).await {
            Ok(Ok(grant)) => {
                if self.away.lock().take().is_some() {
                    tracing::info!("rates are counted over all instances again");
                }
                let mut state = allowance.state.lock();
                state.left = grant.requests.saturating_sub(1);
                state.empty_until = (grant.requests == 0).then(|| Instant::now() + grant.wait);
                return Ok(if grant.requests > 0 { Ok(()) } else { Err(grant.wait) });
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        };
        let before = self.away.lock().replace(Instant::now() + AWAY_FOR);
        if before.is_none() {
            tracing::warn!(%problem, "the database is away: rates are counted by this instance alone");
        }
        Err(DatabaseUnavailable)
    }
}
