//! Errors of kept sessions, in the form that callers get.

use epitome::engine::EngineError;
use epitome::live::LiveError;
use epitome::session::UndoError;

use crate::http::{ApiError, Problem};
use crate::worker_pool::WorkFailure;

/// The answer for an error of a live session.
pub(super) fn live(error: LiveError) -> ApiError {
    let message = error.to_string();
    match error {
        LiveError::Infeasible { report, .. } => Problem::Infeasible.with(message).with_report(*report),
        LiveError::Engine(EngineError::Stale | EngineError::Outgrown { .. }) | LiveError::NotArchived { .. } => {
            Problem::StaleDraft.into()
        }
        LiveError::Engine(EngineError::ByHand(error)) => Problem::BadMessages.with(error.to_string()),
        LiveError::Engine(EngineError::NoSummary(_)) => Problem::NotCompacted.with(message),
        LiveError::Engine(EngineError::Cancelled) => WorkFailure::TimedOut.into(),
        LiveError::EditSummary(_) => Problem::BadSummary.with(message),
        LiveError::Undo(UndoError::Unknown { .. }) | LiveError::NothingToUndo => Problem::UnknownEpoch.with(message),
        LiveError::Undo(UndoError::AlreadyUndone(_)) => Problem::AlreadyUndone.with(message),
        LiveError::Undo(UndoError::Covered { .. }) => Problem::Covered.with(message),
        LiveError::Refused { .. } => Problem::Refused.with(message),
        LiveError::StillTooLong { .. } => Problem::StillTooLong.with(message),
        _ => {
            tracing::error!(%error, "a live session failed");
            Problem::Internal.into()
        }
    }
}
