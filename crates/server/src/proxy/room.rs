//! Room for what requests unpack to: compressed bodies, and items that stand for conversations. A few bytes may become
//! many, which the bound on arriving bodies does not see.

use std::sync::Arc;

use axum::response::IntoResponse as _;
use axum::response::Response;
use parking_lot::Mutex;

use crate::guard::{Share, Shares};
use crate::http::{ApiError, Problem};

/// The number of largest bodies that all requests may unpack to at once.
const MOST_UNPACKED: usize = 8;

/// The bytes that all requests may unpack to at once, and each tenant's part of them.
#[derive(Debug)]
pub(super) struct UnpackedBytes(Arc<Shares>);

impl UnpackedBytes {
    /// For bodies of so many bytes at most.
    pub(super) fn new(body_bytes: usize, has_several_tenants: bool) -> Self {
        Self(Shares::new(body_bytes.saturating_mul(MOST_UNPACKED), has_several_tenants))
    }

    /// The room of one request: nothing yet.
    pub(super) fn room(&self, tenant: &Arc<str>) -> Result<Arc<Room>, ApiError> {
        self.0.take(tenant, 0).map(|share| Arc::new(Room(Mutex::new(share)))).ok_or_else(busy)
    }
}

/// The room that a request has taken, until it is dropped.
#[derive(Debug)]
pub(super) struct Room(Mutex<Share>);

impl Room {
    /// Takes more; whether there was so much left.
    pub(super) fn grow(&self, bytes: usize) -> bool {
        self.0.lock().grow(bytes)
    }
}

/// The answer where there is no room.
pub(super) fn busy_response() -> Response {
    busy().into_response()
}

fn busy() -> ApiError {
    Problem::Busy.with("too many bytes of compressed bodies and compaction items are under way")
}
