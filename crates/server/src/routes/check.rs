//! `POST /v1/check`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use epitome::engine::{Check, Watch};
use serde::Serialize;
use utoipa::ToSchema;

use super::job::{Job, Subject};
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody, json_of};
use crate::state::Core;

/// Whether a compaction is due.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckAnswer {
    /// The format of the request.
    format: String,
    /// `should_compact`, `current_tokens`, `threshold_tokens`, `usable_tokens`, `share`, `urgency`, `trigger`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    check: Check,
    /// The model's window.
    window_tokens: u32,
    /// Kept free for the answer.
    reserve_output_tokens: u32,
    /// Taken by the tool definitions.
    tool_definition_tokens: u32,
    /// The token counter.
    counter: String,
    /// Whether its figures are the provider's own, and not estimates.
    exact: bool,
}

/// Tells whether a request should be compacted. A `budget` counts as a window without a reserve.
#[utoipa::path(
    post, path = "/v1/check", tag = "compaction", request_body = Subject, security(("token" = [])),
    responses(
        (status = 200, description = "Tokens, share, urgency", body = CheckAnswer),
        (status = 400, description = "The body is not what the route takes", body = ErrorBody),
    )
)]
pub(crate) async fn check(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<CheckAnswer>, ApiError> {
    let subject = json_of::<Subject>(request, &core.settings.limits).await?.without_draft()?;
    let shared = Arc::clone(&core);
    core.turns
        .run(&caller.tenant, move |cancellation| {
            let core = shared;
            let job = Job::new(&core, &subject, cancellation)?;
            let mut budget = job.budget.clone();
            if let Some(tokens) = subject.budget {
                (budget.window, budget.reserve_output, budget.tool_definitions) = (tokens, 0, 0);
            }
            let mut watch = Watch::new(core.runtime.triggers.clone());
            job.session().log().iter().for_each(|message| watch.push(message));
            Ok(Json(CheckAnswer {
                format: job.loaded.format.to_string(),
                check: watch.check(&budget, job.ledger.total(), None),
                window_tokens: budget.window,
                reserve_output_tokens: budget.reserve_output,
                tool_definition_tokens: budget.tool_definitions,
                counter: job.engine.counter.name().to_owned(),
                exact: job.engine.counter.is_exact(),
            }))
        })
        .await?
}
