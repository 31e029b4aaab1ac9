//! What goes wrong with kept sessions, as callers get it.

use std::time::Duration;

use axum::http::StatusCode;
use epitome::engine::EngineError;
use epitome::live::LiveError;
use epitome::session::UndoError;
use epitome::store::StoreError;

use super::Sessions;
use crate::http::{ApiError, NO_SUMMARY_HELP};
use crate::state::Failed;

/// After how long trying again makes sense where the store does not answer.
const STORE_RETRY: Duration = Duration::from_secs(2);

impl Sessions {
    /// The error for what the store said. What it says of itself goes to the log and not to the caller.
    pub(crate) fn failed(&self, error: StoreError) -> ApiError {
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
                self.tell(&error);
                let help = "nothing was changed; free space, then try again";
                let full = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "store-full", "the store is full", help);
                full.retry_after(Duration::from_secs(30))
            }
            StoreError::DamagedSession { .. } | StoreError::Json { .. } | StoreError::Mismatch { .. } => {
                self.tell(&error);
                ApiError::internal()
            }
            _ => {
                self.tell(&error);
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

    fn tell(&self, error: &StoreError) {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        tracing::error!(%error, %cause, "the store failed");
        self.store_errors.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// 404 for a session that is not there, or is another tenant's.
pub(super) fn unknown_session() -> ApiError {
    let help = "GET /v1/sessions lists those that there are";
    ApiError::new(StatusCode::NOT_FOUND, "unknown-session", "there is no such session", help)
}

/// 503 for what took too long.
pub(super) fn waited_too_long(message: &str, help: &str) -> ApiError {
    let late = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", message, help);
    late.retry_after(Duration::from_secs(5))
}

/// What went wrong with a live session.
pub(super) fn live(error: LiveError) -> ApiError {
    let message = error.to_string();
    match error {
        LiveError::Infeasible { report, .. } => {
            let help = "the report's `floor` says what it is; give a larger window or a shorter system prompt";
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "infeasible", message, help).with_report(*report)
        }
        LiveError::Engine(EngineError::Stale | EngineError::Outgrown { .. }) | LiveError::NotArchived { .. } => stale(),
        LiveError::Engine(EngineError::NoSummary(_)) => {
            ApiError::new(StatusCode::BAD_GATEWAY, "not-compacted", message, NO_SUMMARY_HELP)
        }
        LiveError::Engine(EngineError::Cancelled) => Failed::TimedOut.into(),
        LiveError::EditSummary(_) => {
            ApiError::bad("bad-summary", message, "the preview's `summaries` say how long each may be")
        }
        LiveError::Undo(UndoError::Unknown { .. }) | LiveError::NothingToUndo => {
            ApiError::new(StatusCode::NOT_FOUND, "unknown-epoch", message, "GET …/history lists the compactions")
        }
        LiveError::Undo(UndoError::AlreadyUndone(_)) => {
            ApiError::new(StatusCode::CONFLICT, "already-undone", message, "GET …/history says which are in force")
        }
        LiveError::Undo(UndoError::Covered { .. }) => {
            ApiError::new(StatusCode::CONFLICT, "covered", message, "undo the later one first")
        }
        LiveError::Refused { .. } => {
            let help = "call …/maintain with {\"confirm\": true}, or apply the draft that it answers without `confirm`";
            ApiError::new(StatusCode::CONFLICT, "refused", message, help)
        }
        LiveError::StillTooLong { .. } => {
            let help = "nothing more can leave: use a model with a larger window, or begin a new session";
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "still-too-long", message, help)
        }
        _ => {
            tracing::error!(%error, "a live session failed");
            ApiError::internal()
        }
    }
}

/// 409 for a draft of another state of the session.
pub(super) fn stale() -> ApiError {
    let message = "the session has changed since the draft was made";
    ApiError::new(StatusCode::CONFLICT, "stale-draft", message, "preview it again")
}
