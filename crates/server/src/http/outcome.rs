//! The outcomes of compactions, in the form that callers get.

use epitome::{Report, Status};

use super::error::ApiError;
use super::problem::Problem;

/// The error for a compaction that could not be made; nothing where it was.
pub(crate) fn require_compacted(report: &Report) -> Result<(), ApiError> {
    match report.status {
        Status::NoChange | Status::Compacted | Status::NearEmpty => Ok(()),
        Status::Infeasible => {
            let floor = report.floor.as_ref().map_or(0, |floor| floor.tokens);
            Err(Problem::Infeasible
                .with(format!("{} tokens cannot be met: what must stay takes {floor}", report.budget))
                .with_report(report.clone()))
        }
        Status::RolledBack => Err(ApiError::from(Problem::RolledBack).with_report(report.clone())),
    }
}
