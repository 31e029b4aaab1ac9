//! `POST /v1/compress`: the same for gateways that call a compression service, in the shape that they call it in.
//!
//! Some of them hold rows back (the system prompt, what the model said, the newest question) and put them back by their
//! place: they need as many rows as they sent, in the same order, and send results without their calls.

use axum::Json;
use axum::extract::Request;
use epitome::session::{UnitKind, units};
use epitome::strategy::HostChanges;
use epitome::{MemoryArchive, Session};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::job::{Job, MakeError, Subject, account};
use crate::http::{ApiError, Problem, json_of};
use crate::requester::Requester;

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
    /// `{"mode": "ccr"}`: the caller puts the rows back by their place, and its model can retrieve by a handle. The same
    /// number of rows comes back, only texts in them are shorter, and their marks name handles.
    #[schema(value_type = Option<Object>)]
    config: Option<Value>,
}

/// The fewest tokens of a list that is made smaller although no budget was named: less fits every model's window, and
/// most of it is what the turn is about. Source: half of the smallest window among the models that gateways offer (8,192).
const LEAST_TOKENS: u32 = 4_096;

/// The share of a list that stays where no budget was named: as for a list that grows
/// ([`FitOptions::within`](epitome_fit::FitOptions::within)).
const DEFAULT_SHARE: f64 = 0.5;

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
    /// `compacted`, `near-empty` (compacted, and nothing of the session's subject is left), `no-change`, `infeasible`,
    /// `rolled-back`, or `not-written` (a row would have to change otherwise than by a shorter text); the messages are
    /// changed in the first two cases only.
    status: &'static str,
}

/// Makes a list of messages smaller. A budget that cannot be met is not an error here: the messages are returned as
/// they came.
#[utoipa::path(
    post, path = "/v1/compress", tag = "gateways", request_body = CompressRequest,
    responses((status = 200, description = "The messages to send", body = CompressAnswer))
)]
pub(crate) async fn compress(requester: Requester, request: Request) -> Result<Json<CompressAnswer>, ApiError> {
    let request: CompressRequest = json_of(request, &requester.core.settings.limits).await?;
    requester
        .answer(move |requester, cancellation| {
            let core = &requester.core;
            let mode = request.config.as_ref().and_then(|config| config.get("mode"));
            let has_recall = mode.and_then(Value::as_str) == Some("ccr");
            let known = |model: &String| core.runtime.budget_for(model).is_ok();
            let subject = Subject {
                request: request.messages,
                budget: request.token_budget,
                model: request.model.filter(known),
                ..Subject::default()
            };
            let mut job = Job::new(core, &subject, cancellation)?;
            if has_recall || has_results_without_calls(job.session()) {
                keep_rows(&mut job, request.token_budget.is_some());
                // Versions of gateways that do not name the mode offer their model the same tool.
                job.engine.handles = true;
            }
            let mut archive = MemoryArchive::new();
            let draft = job.draft(&mut archive)?;
            let report = draft.report.clone();
            let compacted = report.status.is_compaction();
            let (messages, status) = match compacted.then(|| job.make(draft)) {
                Some(Ok(made)) => (messages_of(made)?, report.status.as_str()),
                Some(Err(MakeError::Row(problem))) => {
                    tracing::warn!(%problem, "rows of a gateway could not be made smaller");
                    return Ok(CompressAnswer::unchanged(subject.request, report.tokens_before));
                }
                Some(Err(MakeError::Api(error))) => return Err(error),
                None => (subject.request, report.status.as_str()),
            };
            account(core, &requester.caller.tenant, &report, &archive);
            let mut transforms: Vec<String> = Vec::new();
            let mut hashes: Vec<String> = Vec::new();
            for edit in &report.edits {
                let (strategy, handle) = (edit.strategy.to_string(), edit.recall.as_ref().map(ToString::to_string));
                transforms.extend((!transforms.contains(&strategy)).then_some(strategy));
                hashes.extend(handle.filter(|handle| !hashes.contains(handle)));
            }
            Ok(CompressAnswer {
                messages,
                tokens_before: report.tokens_before,
                tokens_after: report.tokens_after,
                tokens_saved: report.tokens_saved(),
                compression_ratio: f64::from(report.tokens_after.max(1)) / f64::from(report.tokens_before.max(1)),
                transforms_applied: transforms,
                ccr_hashes: hashes,
                status,
            })
        })
        .await
}

/// Whether a list has results whose calls were held back.
fn has_results_without_calls(session: &Session) -> bool {
    units(session.view()).iter().any(|unit| unit.kind == UnitKind::Orphan)
}

/// Settles that the rows stay, and how far to go where no budget was named: down to the model's, or to a share of what
/// came, and as near to that as the rows allow.
fn keep_rows(job: &mut Job, has_budget: bool) {
    job.request.host = HostChanges::Texts;
    if has_budget {
        return;
    }
    let tokens = job.ledger.total();
    let share = ((f64::from(tokens) * DEFAULT_SHARE) as u32).max(LEAST_TOKENS);
    job.request.target = job.request.target.min(share);
    job.request.limit = tokens.max(job.request.target);
}

impl CompressAnswer {
    /// The messages as they came.
    fn unchanged(messages: Box<RawValue>, tokens: u32) -> Self {
        Self {
            messages,
            tokens_before: tokens,
            tokens_after: tokens,
            tokens_saved: 0,
            compression_ratio: 1.0,
            transforms_applied: Vec::new(),
            ccr_hashes: Vec::new(),
            status: "not-written",
        }
    }
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
        .map_err(|_| Problem::Internal.into())
}
