//! The store, and the errors that callers get where it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use epitome::store::{Store, StoreError, Tenant};

use crate::auth::Caller;
use crate::http::{ApiError, Problem};

/// The store of what tenants keep: sessions, memories, agents, channels.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) store: Store,
    failures: AtomicU64,
    /// Whether there was no room for the last that was to be stored.
    is_full: AtomicBool,
}

impl Storage {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, failures: AtomicU64::new(0), is_full: AtomicBool::new(false) }
    }

    /// A caller's tenant in the store.
    pub(crate) fn tenant(&self, caller: &Caller) -> Result<Tenant, ApiError> {
        Tenant::new(Arc::clone(&caller.tenant)).map_err(|error| self.api_error(error))
    }

    /// Whether the store has no room. Costs nothing as long as nothing failed for that reason.
    pub(crate) async fn is_full(&self) -> bool {
        if self.is_full.load(Ordering::Relaxed) {
            let is_full = matches!(self.store.check_writable().await, Err(StoreError::Full { .. }));
            self.is_full.store(is_full, Ordering::Relaxed);
        }
        self.is_full.load(Ordering::Relaxed)
    }

    /// The number of the store's failures.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The error for what the store said. What it says of itself goes to the log and not to the caller.
    pub(crate) fn api_error(&self, error: StoreError) -> ApiError {
        let message = error.to_string();
        match error {
            StoreError::NotFound { of: "session", .. } => Problem::UnknownSession.into(),
            StoreError::NotFound { of: "summary", .. } => Problem::UnknownSummary.into(),
            StoreError::NotFound { .. } => Problem::NotFound.with(message),
            StoreError::Taken { .. } => Problem::Taken.with(message),
            StoreError::Conflict { .. } => Problem::Conflict.with(message),
            StoreError::Name { .. } => Problem::BadName.with(message),
            StoreError::Secret { .. } => Problem::Secret.with(message),
            StoreError::Paging { .. } => Problem::BadPage.with(message),
            StoreError::Full { .. } => {
                self.log(&error);
                self.is_full.store(true, Ordering::Relaxed);
                Problem::StoreFull.into()
            }
            StoreError::DamagedSession { .. } | StoreError::Json { .. } | StoreError::Mismatch { .. } => {
                self.log(&error);
                Problem::Internal.into()
            }
            _ => {
                self.log(&error);
                Problem::StoreUnavailable.into()
            }
        }
    }

    fn log(&self, error: &StoreError) {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        tracing::error!(%error, %cause, "the store failed");
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}
