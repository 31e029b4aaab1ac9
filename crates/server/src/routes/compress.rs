//! `POST /v1/compress`: the same for gateways that call a compression service, in the shape that they call it in.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use epitome::MemoryArchive;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::job::{Job, Subject, account};
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody, json_of, status_name};
use crate::state::Core;

/// Messages to make smaller. Fields of other services that mean nothing here are passed over.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CompressRequest {
    /// The messages, of OpenAI chat or of Anthropic.
    #[schema(value_type = Vec<Object>)]
    messages: Box<RawValue>,
    /// The model that they are for: its window is the budget where none is given and something is known of it.
    model: Option<String>,
    /// Tokens that they may take.
    #[serde(alias = "tokenBudget", alias = "budget")]
    token_budget: Option<u32>,
}

/// The messages, smaller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompressAnswer {
    /// The messages to send; as they came where nothing was changed.
    #[schema(value_type = Vec<Object>)]
    messages: Box<RawValue>,
    /// Tokens before.
    tokens_before: u32,
    /// Tokens now.
    tokens_after: u32,
    /// The difference.
    tokens_saved: u32,
    /// Tokens now as a share of those before; 1 where nothing was changed.
    compression_ratio: f64,
    /// The strategies that changed something, in order.
    transforms_applied: Vec<String>,
    /// Handles of what left, for `GET /v1/retrieve/{hash}`.
    ccr_hashes: Vec<String>,
    /// `compacted`, `hollow` (compacted, and nothing is left of what was asked for and worked on), `no-change`, `infeasible`
    /// or `rolled-back`; the messages are changed in the first two cases only.
    status: &'static str,
}

/// Makes a list of messages smaller. What cannot be met is no error here: the messages come back as they were.
#[utoipa::path(
    post, path = "/v1/compress", tag = "gateways", request_body = CompressRequest, security(("token" = [])),
    responses(
        (status = 200, description = "The messages to send", body = CompressAnswer),
        (status = 400, description = "The body is not what the route takes", body = ErrorBody),
    )
)]
pub(crate) async fn compress(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<CompressAnswer>, ApiError> {
    let request: CompressRequest = json_of(request, &core.settings.limits).await?;
    let shared = Arc::clone(&core);
    core.turns
        .run(&caller.tenant.clone(), move |cancellation| {
            let core = shared;
            let known = |model: &String| core.runtime.budget_for(model).is_ok();
            let subject = Subject {
                request: request.messages,
                format: None,
                budget: request.token_budget,
                window: None,
                model: request.model.filter(known),
                target: None,
                focus: None,
                task: None,
                chain: None,
                mode: None,
                draft: None,
                summaries: Vec::new(),
            };
            let job = Job::new(&core, &subject, cancellation)?;
            let mut archive = MemoryArchive::new();
            let draft = job.draft(&mut archive)?;
            let report = draft.report.clone();
            account(&core, &caller.tenant, &report, &archive);
            let compacted = report.status.is_compaction();
            let messages = if compacted { messages_of(job.make(draft)?)? } else { subject.request };
            let mut transforms: Vec<String> = Vec::new();
            let mut hashes: Vec<String> = Vec::new();
            for edit in &report.edits {
                let (strategy, handle) = (edit.strategy.to_string(), edit.recall.as_ref().map(ToString::to_string));
                transforms.extend((!transforms.contains(&strategy)).then_some(strategy));
                hashes.extend(handle.filter(|handle| !hashes.contains(handle)));
            }
            Ok(Json(CompressAnswer {
                messages,
                tokens_before: report.tokens_before,
                tokens_after: report.tokens_after,
                tokens_saved: report.tokens_before.saturating_sub(report.tokens_after),
                compression_ratio: f64::from(report.tokens_after.max(1)) / f64::from(report.tokens_before.max(1)),
                transforms_applied: transforms,
                ccr_hashes: hashes,
                status: status_name(report.status),
            }))
        })
        .await?
}

/// The list alone: a system prompt that has no place in it stays where the caller has it.
fn messages_of(request: Box<RawValue>) -> Result<Box<RawValue>, ApiError> {
    #[derive(Deserialize)]
    struct WrappedMessages {
        messages: Box<RawValue>,
    }
    if request.get().starts_with('[') {
        return Ok(request);
    }
    serde_json::from_str::<WrappedMessages>(request.get())
        .map(|wrapped| wrapped.messages)
        .map_err(|_| ApiError::internal())
}
