//! The store, and what callers are told where it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use epitome::store::{Store, StoreError, Tenant};

use crate::auth::Caller;
use crate::http::ApiError;

/// After how long trying again makes sense where the store does not answer.
const STORE_RETRY: Duration = Duration::from_secs(2);

/// The store of what tenants keep: sessions, memories, agents, channels.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) store: Arc<dyn Store>,
    failures: AtomicU64,
}

impl Storage {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, failures: AtomicU64::new(0) }
    }

    /// A caller's tenant in the store.
    pub(crate) fn tenant(&self, caller: &Caller) -> Result<Tenant, ApiError> {
        Tenant::new(Arc::clone(&caller.tenant)).map_err(|error| self.api_error(error))
    }

    /// How often the store failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The error for what the store said. What it says of itself goes to the log and not to the caller.
    pub(crate) fn api_error(&self, error: StoreError) -> ApiError {
        let message = error.to_string();
        match error {
            StoreError::NotFound { of: "session", .. } => unknown_session(),
            StoreError::NotFound { of: "summary", .. } => {
                let help =
                    "GET …/summary gives the newest; a message behind a compaction that was undone is back in the view";
                ApiError::new(StatusCode::NOT_FOUND, "unknown-summary", "no such summary is in force", help)
            }
            StoreError::NotFound { .. } => {
                ApiError::new(StatusCode::NOT_FOUND, "not-found", message, "list what there is")
            }
            StoreError::Taken { .. } => {
                ApiError::new(StatusCode::CONFLICT, "taken", message, "give another id, or none")
            }
            StoreError::Conflict { .. } => {
                let help = "another instance works on it without this store's locks; try again";
                ApiError::new(StatusCode::CONFLICT, "conflict", message, help)
            }
            StoreError::Name { .. } => ApiError::bad("bad-name", message, "1 to 200 characters, no control characters"),
            StoreError::Secret { .. } => ApiError::bad("secret", message, "leave it out"),
            StoreError::Paging { .. } => ApiError::bad("bad-page", message, "leave `after` out for the first page"),
            StoreError::Full { .. } => {
                self.log(&error);
                let help = "nothing was changed; free space, then try again";
                let full = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "store-full", "the store is full", help);
                full.retry_after(Duration::from_secs(30))
            }
            StoreError::DamagedSession { .. } | StoreError::Json { .. } | StoreError::Mismatch { .. } => {
                self.log(&error);
                ApiError::internal()
            }
            _ => {
                self.log(&error);
                let help =
                    "nothing was changed, unless it broke off at the very end: GET the session says; then try again";
                let gone = ApiError::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "store-unavailable",
                    "the store does not answer",
                    help,
                );
                gone.retry_after(STORE_RETRY)
            }
        }
    }

    fn log(&self, error: &StoreError) {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        tracing::error!(%error, %cause, "the store failed");
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// 404 for a session that is not there, or is another tenant's.
pub(crate) fn unknown_session() -> ApiError {
    let help = "GET /v1/sessions lists those that there are";
    ApiError::new(StatusCode::NOT_FOUND, "unknown-session", "there is no such session", help)
}
