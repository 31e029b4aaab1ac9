//! `POST /v1/check`.

use axum::Json;
use axum::extract::Request;
use epitome::context::Fullness;
use serde::Serialize;
use utoipa::ToSchema;

use super::job::{Job, Subject};
use crate::http::{ApiError, json_of};
use crate::requester::Requester;

/// Whether a compaction is due.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckAnswer {
    /// The format of the request.
    format: String,
    /// How full it is, and whether a compaction is due.
    #[serde(flatten)]
    fullness: Fullness,
}

/// Tells whether a request should be compacted. A `budget` counts as a window without a reserve.
#[utoipa::path(
    post, path = "/v1/check", tag = "compaction", request_body = Subject,
    responses((status = 200, description = "Tokens, share, urgency", body = CheckAnswer))
)]
pub(crate) async fn check(requester: Requester, request: Request) -> Result<Json<CheckAnswer>, ApiError> {
    let subject = json_of::<Subject>(request, &requester.core.settings.limits).await?.without_draft()?;
    requester
        .answer(move |requester, cancellation| {
            let core = &requester.core;
            let job = Job::new(core, &subject, cancellation)?;
            let mut budget = job.budget.clone();
            if let Some(tokens) = subject.budget {
                (budget.window, budget.reserve_output, budget.tool_definitions) = (tokens, 0, 0);
            }
            // A budget is room for the messages alone; what a provider counted is the whole request.
            let measure = if subject.budget.is_some() { Fullness::measure } else { Fullness::measure_reported };
            let fullness = measure(&job.ledger, job.session(), job.ledger.total(), &budget, &job.runtime.triggers);
            let fullness = fullness.for_model(job.model.as_deref());
            Ok(CheckAnswer { format: job.loaded.format.to_string(), fullness })
        })
        .await
}
