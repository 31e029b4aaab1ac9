//! How compactions end, as callers get it.

use axum::http::StatusCode;
use epitome::{Report, Status};

use super::error::ApiError;

/// What to do where nobody wrote the summary that was asked for, and nothing was changed therefore.
pub(crate) const NO_SUMMARY_HELP: &str =
    "try again, or let the rules write summaries where the model fails: [summary] fall_back_to_rules = true";

/// How a compaction ended, in a word.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::NoChange => "no-change",
        Status::Compacted => "compacted",
        Status::Hollow => "hollow",
        Status::Infeasible => "infeasible",
        Status::RolledBack => "rolled-back",
    }
}

/// The error for a compaction that could not be made; nothing where it was.
pub(crate) fn require_compacted(report: &Report) -> Result<(), ApiError> {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    match report.status {
        Status::NoChange | Status::Compacted | Status::Hollow => Ok(()),
        Status::Infeasible => {
            let floor = report.floor.as_ref().map_or(0, |floor| floor.tokens);
            let message = format!("{} tokens cannot be met: what must stay takes {floor}", report.budget);
            let help = "the report's `floor` says what it is; give a larger budget or a shorter system prompt";
            Err(ApiError::new(status, "infeasible", message, help).with_report(report.clone()))
        }
        Status::RolledBack => {
            let help = "the report's `quality` says what would have been lost; ask for less, or lower [quality]";
            let message = "too little would have been kept";
            Err(ApiError::new(status, "rolled-back", message, help).with_report(report.clone()))
        }
    }
}
