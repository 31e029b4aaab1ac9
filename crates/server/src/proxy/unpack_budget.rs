//! The memory that requests may unpack to: compressed bodies, and items that stand for conversations. A few bytes may become
//! many, which the bound on arriving bodies does not see.

use std::sync::Arc;

use axum::response::IntoResponse as _;
use axum::response::Response;
use parking_lot::Mutex;

use crate::guard::{QuotaPermit, TenantQuotas};
use crate::http::{ApiError, Problem};

/// The number of largest bodies that all requests may unpack to at once.
const MOST_UNPACKED: usize = 8;

/// The bytes that all requests may unpack to at once, and each tenant's part of them.
#[derive(Debug)]
pub(super) struct UnpackBudget(Arc<TenantQuotas>);

impl UnpackBudget {
    /// Returns the budget for bodies of at most `body_bytes` bytes.
    pub(super) fn new(body_bytes: usize, has_several_tenants: bool) -> Self {
        Self(TenantQuotas::new(body_bytes.saturating_mul(MOST_UNPACKED), has_several_tenants))
    }

    /// Returns the reservation of one request, empty at first.
    pub(super) fn reserve(&self, tenant: &Arc<str>) -> Result<Arc<UnpackReservation>, ApiError> {
        self.0.take(tenant, 0).map(|share| Arc::new(UnpackReservation(Mutex::new(share)))).ok_or_else(busy)
    }
}

/// The memory that a request has reserved, until it is dropped.
#[derive(Debug)]
pub(super) struct UnpackReservation(Mutex<QuotaPermit>);

impl UnpackReservation {
    /// Reserves more; false if the budget is used up.
    pub(super) fn grow(&self, bytes: usize) -> bool {
        self.0.lock().grow(bytes)
    }
}

/// The answer where the budget is used up.
pub(super) fn busy_response() -> Response {
    busy().into_response()
}

fn busy() -> ApiError {
    Problem::Busy.with("too many bytes of compressed bodies and compaction items are under way")
}
