//! `…/check`, `…/maintain` and `…/overflow`: what a runtime calls around each call of the model.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use epitome::engine::{Check, DraftSummary, Urgency};
use epitome::live::{Compaction, ContextTokens, MaintainOutcome, Overflow, Retry};
use epitome::providers::chat::is_context_overflow;
use epitome::store::successor_id;
use epitome::{Report, Session};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::compact::{account, keep, require_made};
use super::create;
use super::drafts::StoredPreview;
use super::failure::live;
use super::input::SessionId;
use super::key::SessionKey;
use super::list::SessionAnswer;
use super::named::NamedSession;
use super::open::{Operation, read_at};
use super::opened::CachedSession;
use super::state::Sessions;
use crate::http::{ApiError, Problem, json_of, json_or_default, require_compacted};

/// Whether a compaction is due.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionCheck)]
pub(crate) struct CheckAnswer {
    /// Whether a compaction is due, and the reason.
    check: Check,
    /// The fill of the context.
    context: ContextTokens,
}

/// Tells whether a compaction is due.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/check", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "Tokens, share, urgency", body = CheckAnswer))
)]
pub(crate) async fn check(named: NamedSession) -> Result<Json<CheckAnswer>, ApiError> {
    named
        .read(|seen| {
            let live = &seen.opened.live;
            Ok(Json(CheckAnswer { check: live.check(), context: live.context() }))
        })
        .await
}

/// Whether a compaction that is due may be made, where the settings ask for confirmation.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaintainRequest {
    /// `true` makes it; `false` refuses it, and `[live] on_refusal` says what follows where there is no room left.
    /// Without it, where `[live] require_confirmation` is set, nothing is made: the answer has a draft to
    /// apply.
    confirm: Option<bool>,
}

/// The action that was taken.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum MaintenanceEffect {
    /// Nothing was due, or it could not be made or was not worth making: then `report` says why, once.
    Nothing,
    /// A compaction was made.
    Compacted,
    /// A compaction is due and waits for a yes: the draft is to be applied.
    ConfirmationNeeded,
    /// A compaction was refused, and there is room to go on without it.
    Refused,
    /// A compaction was refused and there was no room left: a new session continues.
    NewSession,
}

/// The outcome of `maintain`, before a call of the model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MaintainOutcome)]
pub(crate) struct MaintainAnswer {
    did: MaintenanceEffect,
    /// Whether a compaction was due, and the reason: the state before.
    check: Check,
    /// The compaction that was made, or would be, or was not worth making.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    report: Option<Report>,
    /// The compaction's number, where one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    epoch: Option<u32>,
    /// Where a yes is needed: `POST …/apply` with this makes the compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    draft: Option<String>,
    /// Until when, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    expires_at: Option<i64>,
    /// The summaries that would be shown; their texts may be edited when it is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    summaries: Option<Vec<DraftSummary>>,
    /// The new session, where one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    session: Option<Box<SessionAnswer>>,
    /// The fill of the context now.
    context: ContextTokens,
    /// The session's version now.
    version: u64,
}

/// Compacts where that is due.
struct Maintain {
    ask: MaintainRequest,
    key: SessionKey,
}

/// The outcome of [`Maintain`].
struct MaintainResult {
    did: MaintenanceEffect,
    /// The state before.
    check: Check,
    report: Option<Box<Report>>,
    epoch: Option<u32>,
    previewed: Option<StoredPreview>,
    session: Option<Box<SessionAnswer>>,
}

impl MaintainResult {
    fn new(did: MaintenanceEffect, check: Check) -> Self {
        Self { did, check, report: None, epoch: None, previewed: None, session: None }
    }

    fn new_session(check: Check, session: SessionAnswer) -> Self {
        Self { session: Some(Box::new(session)), ..Self::new(MaintenanceEffect::NewSession, check) }
    }

    fn to_confirm(check: Check, previewed: StoredPreview) -> Self {
        Self { previewed: Some(previewed), ..Self::new(MaintenanceEffect::ConfirmationNeeded, check) }
    }
}

impl Maintain {
    /// The key of the session that continues this one after a refusal in its present state: another state has another
    /// successor. So a client that did not receive the answer finds the same session when it asks again.
    fn successor(&self, opened: &CachedSession) -> SessionKey {
        let (tenant, id) = &self.key;
        (tenant.clone(), successor_id(tenant, id, opened.live.session()))
    }

    /// The session that continues this one after a refusal, where it exists already.
    async fn known_successor(
        &self,
        sessions: &Arc<Sessions>,
        opened: &CachedSession,
    ) -> Result<Option<SessionAnswer>, ApiError> {
        match read_at(sessions, self.successor(opened), |seen| Ok(SessionAnswer::new(seen))).await {
            Ok(known) => Ok(Some(known)),
            Err(error) if error.problem.status() == StatusCode::NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn begin_successor(
        &self,
        sessions: &Arc<Sessions>,
        opened: &CachedSession,
        session: Session,
    ) -> Result<SessionAnswer, ApiError> {
        let about = sessions.info(&self.key).await?.about;
        create::make(sessions, self.successor(opened), about, session).await
    }

    /// Works out the draft that needs confirmation; once for each state of the session.
    async fn preview(
        &self,
        sessions: &Sessions,
        opened: &mut CachedSession,
        check: Check,
    ) -> Result<MaintainResult, ApiError> {
        let Some(trigger) = check.trigger else { return Ok(MaintainResult::new(MaintenanceEffect::Nothing, check)) };
        let drafts = &sessions.drafts;
        if let Some(known) = drafts.draft_of_state(&self.key, opened.live.session().state_hash(), trigger) {
            return Ok(MaintainResult::to_confirm(check, known));
        }
        let compaction = Compaction { trigger, ..Compaction::default() };
        let drafted = opened.live.preview(&compaction).await;
        let draft = match drafted {
            Ok(draft) => draft,
            Err(_) if check.urgency < Urgency::Hard => {
                return Ok(MaintainResult::new(MaintenanceEffect::Nothing, check));
            }
            Err(error) => return Err(live(error)),
        };
        if draft.epoch().is_none() && check.urgency < Urgency::Hard {
            return Ok(MaintainResult::new(MaintenanceEffect::Nothing, check)); // there is nothing to agree to
        }
        require_compacted(&draft.report)?;
        Ok(MaintainResult::to_confirm(check, keep(sessions, &self.key, &opened.live, draft)?))
    }
}

impl Operation for Maintain {
    type Output = MaintainResult;

    async fn run(&self, sessions: &Arc<Sessions>, opened: &mut CachedSession) -> Result<MaintainResult, ApiError> {
        opened.live.clear_results().await.map_err(live)?;
        let (check, before) = (opened.live.check(), opened.live.session().next_epoch());
        let asks = opened.runtime.live.require_confirmation;
        if asks
            && self.ask.confirm != Some(true)
            && check.urgency == Urgency::Hard
            && let Some(begun) = self.known_successor(sessions, opened).await?
        {
            return Ok(MaintainResult::new_session(check, begun));
        }
        let maintained = match self.ask.confirm {
            None if asks => return self.preview(sessions, opened, check).await,
            Some(true) if asks => {
                opened.live.forget_failure(); // an earlier no is taken back
                opened.live.maintain_agreed().await
            }
            Some(false) if !asks && check.trigger.is_some() => {
                return Ok(MaintainResult::new(MaintenanceEffect::Refused, check));
            }
            _ => opened.live.maintain().await,
        };
        Ok(match maintained.map_err(live)? {
            MaintainOutcome::Nothing(check) | MaintainOutcome::Preparing(check) => {
                MaintainResult::new(MaintenanceEffect::Nothing, check)
            }
            MaintainOutcome::NotWorthwhile(check, report) => {
                MaintainResult { report: Some(report), ..MaintainResult::new(MaintenanceEffect::Nothing, check) }
            }
            MaintainOutcome::Compacted(report) => {
                require_made(sessions, &report)?;
                let epoch = super::compact::newest(&opened.live, before);
                MaintainResult {
                    report: Some(report),
                    epoch,
                    ..MaintainResult::new(MaintenanceEffect::Compacted, check)
                }
            }
            MaintainOutcome::Refused(check) => MaintainResult::new(MaintenanceEffect::Refused, check),
            MaintainOutcome::NewSession(session) => {
                let begun = self.begin_successor(sessions, opened, *session).await;
                // It is not said to be refused before the new session is there.
                let begun = begun.inspect_err(|_| opened.live.forget_failure())?;
                MaintainResult::new_session(check, begun)
            }
        })
    }

    fn account(&self, sessions: &Sessions, done: &MaintainResult) {
        if let Some(report) = &done.report {
            account(sessions, report);
        }
    }

    fn is_long(&self, opened: &CachedSession) -> bool {
        opened.live.check().trigger.is_some() || opened.runtime.clearing.is_some()
    }
}

/// To be called before each call of the model: compacts where that is due.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/maintain", tag = "sessions", request_body = MaintainRequest,
    params(SessionId),
    responses((status = 200, description = "What was done", body = MaintainAnswer))
)]
pub(crate) async fn maintain(named: NamedSession, request: Request) -> Result<Json<MaintainAnswer>, ApiError> {
    let ask: MaintainRequest = json_or_default(request, &named.sessions.core.settings.limits).await?;
    let key = named.key.clone();
    let changed = named.change(Maintain { ask, key }).await?;
    let MaintainResult { did, check, report, epoch, previewed, session } = changed.value;
    let draft = previewed.as_ref().map(|previewed| &previewed.draft);
    Ok(Json(MaintainAnswer {
        did,
        check,
        report: report.map(|report| *report).or_else(|| draft.map(|draft| draft.report.clone())),
        epoch,
        summaries: draft.map(|draft| draft.summaries()),
        draft: previewed.as_ref().map(|previewed| previewed.id.to_string()),
        expires_at: previewed.as_ref().map(|previewed| previewed.expires_at),
        session,
        context: changed.context,
        version: changed.version,
    }))
}

/// The provider's error about a request that was too long: its answer, or the figures in it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverflowRequest {
    /// The status of the provider's answer.
    #[schema(minimum = 100, maximum = 599)]
    status: Option<u16>,
    /// The answer's body, as it came: text, or the JSON itself.
    #[schema(value_type = Value)]
    body: Option<serde_json::Value>,
    /// Tokens that the provider takes, where the caller knows.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295_u64)]
    limit: Option<u32>,
    /// Tokens that were sent, by the provider's count.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295_u64)]
    tokens: Option<u32>,
}

impl OverflowRequest {
    fn overflow(&self) -> Result<Overflow, ApiError> {
        if self.limit == Some(0) || self.tokens == Some(0) || self.status.is_some_and(|it| !(100..600).contains(&it)) {
            return Err(Problem::BadRequest
                .with("a figure is out of range")
                .with_help("`limit` and `tokens` are 1 or more, `status` is that of an answer over HTTP"));
        }
        let figures = Overflow { limit: self.limit, actual: self.tokens };
        let body = match &self.body {
            None if self.status.is_none() => return Ok(figures),
            None => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(json) => json.to_string(),
        };
        let said = is_context_overflow(self.status.unwrap_or(400), &body).ok_or(Problem::NoOverflow)?;
        Ok(Overflow { limit: figures.limit.or(said.limit), actual: figures.actual.or(said.actual) })
    }
}

/// The next step after the provider refused a request as too long: send the view again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Overflowed {
    /// The attempt that is to be made now.
    retry: RetryAnswer,
    /// The compaction that was made for it.
    report: Report,
    /// The compaction's number.
    #[schema(required)]
    epoch: Option<u32>,
    /// The session's version now.
    version: u64,
    /// The fill of the context now.
    context: ContextTokens,
}

/// An attempt to be made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OverflowRetry)]
struct RetryAnswer {
    /// Tokens that the view may take from here on.
    limit: u32,
    /// The number of attempts left if this one is refused too.
    attempts_left: u32,
}

/// Makes a session smaller than its budget asks.
struct Shrink(Overflow);

impl Operation for Shrink {
    type Output = (Retry, Option<u32>);

    async fn run(&self, sessions: &Arc<Sessions>, opened: &mut CachedSession) -> Result<Self::Output, ApiError> {
        let before = opened.live.session().next_epoch();
        let retry = opened.live.handle_overflow(self.0).await.map_err(live)?;
        require_made(sessions, &retry.report)?;
        Ok((retry, super::compact::newest(&opened.live, before)))
    }

    fn account(&self, sessions: &Sessions, (retry, _): &Self::Output) {
        account(sessions, &retry.report);
    }

    fn is_long(&self, _opened: &CachedSession) -> bool {
        true
    }
}

/// To be called when the provider refused the session as too long: compacts harder than the budget asks. Then send the view
/// again. A limit that the provider named stays in force for the session as long as it is in memory.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/overflow", tag = "sessions", request_body = OverflowRequest,
    params(SessionId),
    responses((status = 200, description = "It is smaller now", body = Overflowed))
)]
pub(crate) async fn overflow(named: NamedSession, request: Request) -> Result<Json<Overflowed>, ApiError> {
    let ask: OverflowRequest = json_of(request, &named.sessions.core.settings.limits).await?;
    let changed = named.change(Shrink(ask.overflow()?)).await?;
    let (retry, epoch) = changed.value;
    Ok(Json(Overflowed {
        retry: RetryAnswer { limit: retry.limit, attempts_left: retry.attempts_left },
        report: retry.report,
        epoch,
        version: changed.version,
        context: changed.context,
    }))
}
