//! `POST /v1/compact` and `POST /v1/preview`.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use epitome::engine::{Draft, DraftSummary};
use epitome::{MemoryArchive, Report, Status};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::job::{Job, Subject, account};
use crate::http::{ApiError, Problem, json_of, require_compacted};
use crate::requester::Requester;

/// The outcome of a request's compaction, made or previewed.
#[derive(Debug, Serialize, ToSchema)]
struct RequestOutcome {
    /// `no-change` where it fits as it is; `infeasible` and `rolled-back` in a preview only.
    status: Status,
    /// The format of the request.
    format: String,
    /// Tokens of the messages before.
    tokens_before: u32,
    /// Tokens of the messages afterwards.
    tokens_after: u32,
    /// Every decision with its reason, as `epitome compact --report` writes it.
    report: Report,
}

impl RequestOutcome {
    fn new(job: &Job, report: Report) -> Self {
        Self {
            status: report.status,
            format: job.loaded.format.to_string(),
            tokens_before: report.tokens_before,
            tokens_after: report.tokens_after,
            report,
        }
    }
}

/// A compaction that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompactAnswer {
    #[serde(flatten)]
    outcome: RequestOutcome,
    /// The request to send: as it came, with the compacted messages in place of its own.
    #[schema(value_type = Object)]
    request: Box<RawValue>,
    /// The parts of the input that were left out in reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A compaction that was worked out and not made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviewAnswer {
    #[serde(flatten)]
    outcome: RequestOutcome,
    /// The summaries that would be shown.
    summaries: Vec<DraftSummary>,
    /// The compaction itself: `POST /v1/compact` with the same request and this makes exactly this one.
    #[schema(value_type = Object)]
    draft: Draft,
}

/// Compacts a request to its budget.
#[utoipa::path(
    post, path = "/v1/compact", tag = "compaction", request_body = Subject,
    responses((status = 200, description = "The request to send, and the report", body = CompactAnswer))
)]
pub(crate) async fn compact(requester: Requester, request: Request) -> Result<Json<CompactAnswer>, ApiError> {
    let mut subject: Subject = json_of(request, &requester.core.settings.limits).await?;
    requester
        .answer(move |requester, cancellation| {
            let core = &requester.core;
            let job = Job::new(core, &subject, cancellation)?;
            let mut archive = MemoryArchive::new();
            let draft = match subject.draft.take() {
                Some(given) => apply_edits(&job, given, &subject)?,
                None if !subject.summaries.is_empty() => {
                    return Err(Problem::BadRequest
                        .with("`summaries` needs `draft`")
                        .with_help("preview the request and send its draft too"));
                }
                None => job.draft(&mut archive)?,
            };
            let report = draft.report.clone();
            account(core, &requester.caller.tenant, &report, &archive);
            require_compacted(&report)?;
            let request = if draft.epoch().is_some() { job.make(draft)? } else { subject.request };
            let warnings = job.loaded.warnings.iter().map(|warning| warning.message.clone()).collect();
            Ok(CompactAnswer { outcome: RequestOutcome::new(&job, report), request, warnings })
        })
        .await
}

/// A draft that came back, with its edited summaries.
fn apply_edits(job: &Job, mut draft: Draft, subject: &Subject) -> Result<Draft, ApiError> {
    for summary in &subject.summaries {
        draft
            .edit_summary(summary.number, &summary.text, &**job.ledger.counter())
            .map_err(|error| Problem::BadSummary.with(error.to_string()))?;
    }
    Ok(draft)
}

/// Works a compaction out and makes none.
#[utoipa::path(
    post, path = "/v1/preview", tag = "compaction", request_body = Subject,
    responses((status = 200, description = "What would be done", body = PreviewAnswer))
)]
pub(crate) async fn preview(requester: Requester, request: Request) -> Result<Json<PreviewAnswer>, ApiError> {
    let subject = json_of::<Subject>(request, &requester.core.settings.limits).await?.without_draft()?;
    requester
        .answer(move |requester, cancellation| {
            let core = &requester.core;
            let job = Job::new(core, &subject, cancellation)?;
            let mut archive = MemoryArchive::new();
            let draft = job.draft(&mut archive)?;
            // Text removed by a draft can be retrieved already: the draft may be applied without being worked out
            // again.
            if draft.epoch().is_some() {
                let items = archive.items().map(|(handle, item)| (Arc::clone(handle), item.clone()));
                core.archives.keep(&requester.caller.tenant, items);
            }
            let outcome = RequestOutcome::new(&job, draft.report.clone());
            Ok(PreviewAnswer { outcome, summaries: draft.summaries(), draft })
        })
        .await
}
