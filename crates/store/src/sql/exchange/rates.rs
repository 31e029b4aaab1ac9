//! How many requests tenants have left, over all instances: a bucket for each, that fills as time goes by.

use std::time::Duration;

use super::Exchange;
use crate::error::StoreError;
use crate::sql::Access;
use crate::sql::Failure;
use crate::sql::statement::Statement;

/// One draw. A bucket holds `?2` requests and fills with as many in a minute: a millisecond brings `?2` / 60 thousandths. The
/// time is the database's, and does not go back. The row is locked for this statement only.
const DRAW: &str = "\
    WITH drawn AS (INSERT INTO request_rates AS rate (tenant, remaining, granted, filled_at) \
    VALUES (?1, 1000 * (?2::int8 - LEAST(?3::int8, ?2::int8)), LEAST(?3::int8, ?2::int8), \
    (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::int8) \
    ON CONFLICT (tenant) DO UPDATE SET \
    granted = LEAST(?3::int8, FILLED / 1000), \
    remaining = FILLED - 1000 * LEAST(?3::int8, FILLED / 1000), \
    filled_at = GREATEST(rate.filled_at, EXCLUDED.filled_at) \
    RETURNING granted, remaining) SELECT granted, remaining FROM drawn";

/// What is in the bucket at the time of the draw.
const FILLED: &str = "LEAST(1000 * ?2::int8, \
    rate.remaining + LEAST(GREATEST(EXCLUDED.filled_at - rate.filled_at, 0), 60000) * ?2::int8 / 60)";

/// The result of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// The requests that the caller may let in now or later: they are taken off already.
    pub requests: u32,
    /// The time until the bucket holds a whole request more; nothing where something was granted.
    pub wait: Duration,
}

impl Exchange {
    /// Takes up to `wanted` requests off a tenant's bucket, which all instances share: it holds `per_minute` requests and fills
    /// with as many in a minute. One statement.
    ///
    /// Instances that name different rates share the bucket all the same, each with its own.
    pub async fn draw(&self, tenant: &str, per_minute: u32, wanted: u32) -> Result<Grant, StoreError> {
        let draw = Statement::composed(DRAW.replace("FILLED", FILLED));
        let draw = draw.with(tenant).with(per_minute.max(1)).with(wanted);
        let drawn = self.store.run(Access::Write, vec![draw]).await.map_err(Failure::into_error)?;
        let mut row = drawn.first().ok_or_else(|| Failure::Unmet(0).into_error())?.first()?;
        let (granted, remaining) = (row.integer()?, row.integer()?);
        let missing = if granted > 0 { 0 } else { (1000 - remaining).max(0) };
        let wait = Duration::from_millis((missing * 60 / i64::from(per_minute.max(1))).unsigned_abs());
        Ok(Grant { requests: u32::try_from(granted).unwrap_or(0), wait })
    }
}
