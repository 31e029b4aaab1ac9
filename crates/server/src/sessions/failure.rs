//! What goes wrong with kept sessions, as callers get it.

use std::time::Duration;

use axum::http::StatusCode;
use epitome::engine::EngineError;
use epitome::live::LiveError;
use epitome::session::UndoError;

use crate::http::{ApiError, NO_SUMMARY_HELP};
use crate::turns::WorkFailure;

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
        LiveError::Engine(EngineError::Cancelled) => WorkFailure::TimedOut.into(),
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
