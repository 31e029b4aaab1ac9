//! `POST /v1/compact` and `POST /v1/preview`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use epitome::engine::{Draft, DraftSummary};
use epitome::{MemoryArchive, Report};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::job::{Job, Subject, account};
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody, json_of, require_compacted, status_name};
use crate::state::Core;

/// A compaction that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompactAnswer {
    /// `compacted`, `no-change` where it fits as it is, or `hollow` where nothing is left of what was asked for and worked
    /// on.
    status: &'static str,
    /// The format of the request.
    format: String,
    /// Tokens of the messages before.
    tokens_before: u32,
    /// Tokens of the messages now.
    tokens_after: u32,
    /// The request to send: as it came, with the compacted messages in place of its own.
    #[schema(value_type = Object)]
    request: Box<RawValue>,
    /// Every decision with its reason, as `epitome compact --report` writes it.
    #[schema(value_type = Object)]
    report: Report,
    /// What was passed over in reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A compaction that was worked out and not made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviewAnswer {
    /// `compacted`, `hollow`, `no-change`, `infeasible` or `rolled-back`.
    status: &'static str,
    /// The format of the request.
    format: String,
    /// Tokens of the messages before.
    tokens_before: u32,
    /// Tokens that they would take.
    tokens_after: u32,
    /// Every decision with its reason.
    #[schema(value_type = Object)]
    report: Report,
    /// The summaries that would be shown.
    #[schema(value_type = Vec<Object>)]
    summaries: Vec<DraftSummary>,
    /// The compaction itself: `POST /v1/compact` with the same request and this makes exactly this one.
    #[schema(value_type = Object)]
    draft: Draft,
}

/// Compacts a request to its budget.
#[utoipa::path(
    post, path = "/v1/compact", tag = "compaction", request_body = Subject, security(("token" = [])),
    responses(
        (status = 200, description = "The request to send, and the report", body = CompactAnswer),
        (status = 400, description = "The body is not what the route takes", body = ErrorBody),
        (status = 409, description = "The draft is of another request", body = ErrorBody),
        (status = 422, description = "It cannot be made to fit, or too much would be lost; with the report", body = ErrorBody),
    )
)]
pub(crate) async fn compact(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<CompactAnswer>, ApiError> {
    let mut subject: Subject = json_of(request, &core.settings.limits).await?;
    let shared = Arc::clone(&core);
    core.turns
        .run(&caller.tenant.clone(), move |cancellation| {
            let core = shared;
            let job = Job::new(&core, &subject, cancellation)?;
            let mut archive = MemoryArchive::new();
            let draft = match subject.draft.take() {
                Some(given) => apply_edits(&job, given, &subject)?,
                None if !subject.summaries.is_empty() => {
                    let help = "preview the request and send its draft too";
                    return Err(ApiError::bad("bad-request", "`summaries` needs `draft`", help));
                }
                None => job.draft(&mut archive)?,
            };
            let report = draft.report.clone();
            account(&core, &caller.tenant, &report, &archive);
            require_compacted(&report)?;
            let request = if draft.epoch().is_some() { job.make(draft)? } else { subject.request };
            Ok(Json(CompactAnswer {
                status: status_name(report.status),
                format: job.loaded.format.to_string(),
                tokens_before: report.tokens_before,
                tokens_after: report.tokens_after,
                request,
                report,
                warnings: job.loaded.warnings.iter().map(|warning| warning.message.clone()).collect(),
            }))
        })
        .await?
}

/// A draft that came back, with its edited summaries.
fn apply_edits(job: &Job, mut draft: Draft, subject: &Subject) -> Result<Draft, ApiError> {
    for summary in &subject.summaries {
        draft.edit_summary(summary.number, &summary.text, &*job.engine.counter).map_err(|error| {
            ApiError::bad("bad-summary", error.to_string(), "the preview's `summaries` say how long each may be")
        })?;
    }
    Ok(draft)
}

/// Works a compaction out and makes none.
#[utoipa::path(
    post, path = "/v1/preview", tag = "compaction", request_body = Subject, security(("token" = [])),
    responses(
        (status = 200, description = "What would be done", body = PreviewAnswer),
        (status = 400, description = "The body is not what the route takes", body = ErrorBody),
    )
)]
pub(crate) async fn preview(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<PreviewAnswer>, ApiError> {
    let subject = json_of::<Subject>(request, &core.settings.limits).await?.without_draft()?;
    let shared = Arc::clone(&core);
    core.turns
        .run(&caller.tenant.clone(), move |cancellation| {
            let core = shared;
            let job = Job::new(&core, &subject, cancellation)?;
            let mut archive = MemoryArchive::new();
            let draft = job.draft(&mut archive)?;
            // What a draft names can be retrieved: it may be made without being worked out again.
            if draft.epoch().is_some() {
                let items = archive.items().map(|(handle, item)| (Arc::clone(handle), item.clone()));
                core.archives.keep(&caller.tenant, items);
            }
            Ok(Json(PreviewAnswer {
                status: status_name(draft.report.status),
                format: job.loaded.format.to_string(),
                tokens_before: draft.report.tokens_before,
                tokens_after: draft.report.tokens_after,
                report: draft.report.clone(),
                summaries: draft.summaries(),
                draft,
            }))
        })
        .await?
}
