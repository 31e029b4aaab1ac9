//! Compactions for runtimes that keep their own history: one file each.

pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod compress;
pub(crate) mod count;
pub(crate) mod inspect;
pub(crate) mod job;
pub(crate) mod retrieve;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Problem;
use crate::openapi::with_problems;
use crate::state::Core;

/// The problems of every request that is looked at.
const JOB: &[Problem] = &[
    Problem::BadBudget,
    Problem::BadSettings,
    Problem::NoChain,
    Problem::NotARequest,
    Problem::SeveralRequests,
    Problem::UnknownChain,
    Problem::UnknownFormat,
    Problem::UnknownMode,
    Problem::UnknownModel,
    Problem::UnknownTask,
    Problem::UnreadableRequest,
    Problem::NotCompacted,
];

/// The problems of a compaction that is made.
const MAKING: &[Problem] = &[Problem::BadSummary, Problem::StaleDraft, Problem::Infeasible, Problem::RolledBack];

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> OpenApiRouter {
    let retrieving: &[Problem] = &[Problem::UnknownFormat, Problem::UnknownHash];
    OpenApiRouter::new()
        .routes(with_problems(routes!(compact::compact), &[JOB, MAKING]))
        .routes(with_problems(routes!(compact::preview), &[JOB]))
        .routes(with_problems(routes!(check::check), &[JOB]))
        .routes(with_problems(routes!(inspect::inspect), &[JOB]))
        .routes(with_problems(routes!(count::count), &[JOB]))
        .routes(with_problems(routes!(compress::compress), &[JOB]))
        .routes(with_problems(routes!(retrieve::by_body), &[retrieving]))
        .routes(with_problems(routes!(retrieve::by_path), &[retrieving]))
        .with_state(core)
}
