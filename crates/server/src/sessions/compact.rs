//! `…/compact`, `…/preview` and `…/apply`: compactions by hand.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use epitome::engine::DraftSummary;
use epitome::live::{Compaction, ContextTokens, LiveSession};
use epitome::session::MessageRange;
use epitome::store::StoredMessage;
use epitome::strategy::{Archive as _, ArchivedContent};
use epitome::{Draft, Report, Session};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::create;
use super::drafts::{DraftLookup, StoredPreview};
use super::failure::live;
use super::input::SessionId;
use super::key::SessionKey;
use super::marks::is_marked;
use super::named::NamedSession;
use super::open::{Operation, OperationResult};
use super::opened::CachedSession;
use super::state::Sessions;
use crate::http::{ApiError, Problem, QueryParameters, json_of, json_or_default, require_compacted};
use crate::routes::job::{EditedSummary, call_runtime, chain_of, task_named};

/// The longest focus, in characters.
const LONGEST_FOCUS: usize = 4_000;

/// The options of a compaction.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompactRequest {
    /// The subject to keep in focus; the newest user message without it.
    #[schema(max_length = 4000)]
    pub(super) focus: Option<String>,
    /// Tokens to get down to; the budget's target without it.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295_u64)]
    target: Option<u32>,
    /// `code`, `analysis`, `conversation`, `mixed` or `unknown`, where the caller knows better than the detector.
    task: Option<String>,
    /// Strategies in the order in which they are asked, or the name of one of the configuration's chains.
    #[schema(min_items = 1)]
    chain: Option<Vec<String>>,
    /// Messages that are kept from here on, whole and each call with its results, until they are released: `#37`, `#40-#52`,
    /// `..#36`, `#53..`, by their numbers in the log.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    keep: Vec<MessageRange>,
    /// Messages that leave before anything else does, each call with its results. What must stay is left out of a range, and
    /// an error where it is named alone.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    drop: Vec<MessageRange>,
    /// Settings for this compaction alone, over the session's: keys with their section (`budget.target`), or names such as
    /// `keep_recent_messages`.
    #[serde(default)]
    #[schema(value_type = Object)]
    settings: Map<String, Value>,
}

impl CompactRequest {
    /// With something in focus, and with messages that are kept and dropped.
    pub(super) fn by_hand(focus: Option<String>, keep: Vec<MessageRange>, drop: Vec<MessageRange>) -> Self {
        Self { focus, keep, drop, ..Self::default() }
    }

    /// The compaction of a session that is asked for.
    fn compaction(&self, sessions: &Sessions, opened: &CachedSession) -> Result<Compaction, ApiError> {
        let (keep, drop) = (self.keep.clone(), self.drop.clone());
        let mut compaction = Compaction { target: self.target, keep, drop, ..Compaction::default() };
        if self.target == Some(0) {
            return Err(Problem::BadBudget.with("`target` is 0"));
        }
        if let Some(focus) = &self.focus {
            if focus.chars().count() > LONGEST_FOCUS {
                return Err(Problem::BadRequest
                    .with("`focus` is too long")
                    .with_help(format!("{LONGEST_FOCUS} characters at most")));
            }
            compaction.focus = Some(focus.clone()).filter(|focus| !focus.trim().is_empty());
        }
        compaction.task = self.task.as_deref().map(task_named).transpose()?;
        if let Some(names) = &self.chain {
            if names.is_empty() {
                return Err(Problem::UnknownChain.with("`chain` is empty"));
            }
            compaction.chain = Some(chain_of(&opened.runtime, &sessions.core.registry, names)?);
        }
        Ok(compaction)
    }
}

/// A compaction that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Compacted {
    /// Every decision with its reason.
    pub(super) report: Report,
    /// The compaction's number, to undo it by; null where there was nothing to do.
    #[schema(required)]
    pub(super) epoch: Option<u32>,
    /// The session's version now.
    version: u64,
    /// The fill of the context now.
    context: ContextTokens,
}

impl Compacted {
    fn new(changed: OperationResult<(Report, Option<u32>)>) -> Self {
        let (report, epoch) = changed.value;
        Self { report, epoch, version: changed.version, context: changed.context }
    }
}

/// The number of the compaction that a session has gained.
pub(super) fn newest(live: &LiveSession, epochs_before: u32) -> Option<u32> {
    let next = live.session().next_epoch();
    (next > epochs_before).then(|| next - 1)
}

/// An error for a compaction that could not be made; the metrics count it.
pub(super) fn require_made(sessions: &Sessions, report: &Report) -> Result<(), ApiError> {
    require_compacted(report).inspect_err(|_| sessions.core.metrics.compaction(report.status.as_str(), 0))
}

/// Tells the metrics of a compaction that is stored.
pub(super) fn account(sessions: &Sessions, report: &Report) {
    sessions.core.metrics.compaction(report.status.as_str(), report.tokens_before.saturating_sub(report.tokens_after));
}

/// Compacts at once.
struct Compact(CompactRequest);

impl Operation for Compact {
    type Output = (Report, Option<u32>);

    async fn run(&self, sessions: &Arc<Sessions>, opened: &mut CachedSession) -> Result<Self::Output, ApiError> {
        let compaction = self.0.compaction(sessions, opened)?;
        let before = opened.live.session().next_epoch();
        let of_call = call_runtime(&opened.runtime, &sessions.core.registry, &self.0.settings)?;
        if let Some(runtime) = &of_call {
            opened.live.reconfigure(runtime);
        }
        let compacted = opened.live.compact(&compaction).await;
        if of_call.is_some() {
            opened.live.reconfigure(&opened.runtime);
        }
        let report = compacted.map_err(live)?;
        require_made(sessions, &report)?;
        Ok((report, newest(&opened.live, before)))
    }

    fn is_long(&self, _opened: &CachedSession) -> bool {
        true
    }

    fn account(&self, sessions: &Sessions, (report, _): &Self::Output) {
        account(sessions, report);
    }

    const IS_COMPACTION: bool = true;
}

/// Compacts a session now, whether it is due or not. While one compaction is under way, another is refused.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/compact", tag = "sessions", request_body = CompactRequest,
    params(SessionId),
    responses((status = 200, description = "It is made, or there was nothing to do", body = Compacted))
)]
pub(crate) async fn compact(named: NamedSession, request: Request) -> Result<Json<Compacted>, ApiError> {
    let ask = json_or_default(request, &named.sessions.core.settings.limits).await?;
    compact_now(&named, ask).await.map(Json)
}

/// The same after the request was read.
pub(super) async fn compact_now(named: &NamedSession, ask: CompactRequest) -> Result<Compacted, ApiError> {
    Ok(Compacted::new(named.change(Compact(ask)).await?))
}

/// The options of a preview.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PreviewQuery {
    /// Whether to return the whole views before and after.
    #[serde(default)]
    messages: bool,
}

/// A compaction that was worked out and not made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionPreview)]
pub(crate) struct Preview {
    /// `POST …/apply` with this makes exactly this compaction.
    draft: String,
    /// Until when, in milliseconds since 1970.
    expires_at: i64,
    /// Every decision with its reason.
    report: Report,
    /// The summaries that would be shown; their texts may be edited.
    summaries: Vec<DraftSummary>,
    /// The view as it is, with `?messages=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    before: Option<Vec<StoredMessage>>,
    /// The view as it would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    after: Option<Vec<StoredMessage>>,
}

/// Works a compaction out without making it. It can be applied to the session as it is now, for a quarter of an hour.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/preview", tag = "sessions", request_body = CompactRequest,
    params(SessionId, PreviewQuery),
    responses((status = 200, description = "What would be done; the report's status says whether it can be", body = Preview))
)]
pub(crate) async fn preview(
    named: NamedSession,
    QueryParameters(show): QueryParameters<PreviewQuery>,
    request: Request,
) -> Result<Json<Preview>, ApiError> {
    let ask: CompactRequest = json_or_default(request, &named.sessions.core.settings.limits).await?;
    let (sessions, key) = (&named.sessions, named.key.clone());
    if is_marked(sessions, &key).await? {
        return Err(Problem::CompactionRunning.into());
    }
    let shared = Arc::clone(sessions);
    // On a copy: the session may change meanwhile.
    let copied = named.read(move |seen| {
        if seen.running {
            return Err(Problem::CompactionRunning.into());
        }
        if let Some(problem) = &seen.opened.problem {
            return Err(settings_problem(problem));
        }
        let compaction = ask.compaction(&shared, seen.opened)?;
        let mut copy = seen.opened.live.copy();
        if let Some(runtime) = call_runtime(&seen.opened.runtime, &shared.core.registry, &ask.settings)? {
            copy.reconfigure(&runtime);
        }
        // The cost of a model for a preview counts too.
        copy.count_into(Arc::clone(&shared.core.metrics.kept));
        Ok((copy, compaction))
    });
    let (copy, compaction) = copied.await?;
    let shared = Arc::clone(sessions);
    let previewed = named.work_on(copy, |mut copy: LiveSession| async move {
        let draft = copy.preview(&compaction).await.map_err(live)?;
        let views = show.messages.then(|| views(copy.session(), &draft));
        let previewed = keep(&shared, &key, &copy, draft)?;
        Ok(answer(&previewed, views))
    });
    let given_up = || Problem::Timeout.with("the preview took too long").with_help("nothing was changed; try again");
    previewed.await.unwrap_or_else(|_| Err(given_up())).map(Json)
}

/// 422 where the session's own settings do not work.
fn settings_problem(problem: &str) -> ApiError {
    Problem::BadSettings
        .with(problem)
        .with_help("GET the session says `problem`; PATCH its `agent` or `settings`, or make what they name")
}

/// The views before and after a draft is made.
fn views(session: &Session, draft: &Draft) -> (Vec<StoredMessage>, Vec<StoredMessage>) {
    let before = session.view().iter().map(|entry| StoredMessage::new(entry, None)).collect();
    let mut after = session.clone();
    if let Some(epoch) = draft.epoch() {
        after.commit(epoch.clone());
    }
    (before, after.view().iter().map(|entry| StoredMessage::new(entry, None)).collect())
}

fn answer(previewed: &StoredPreview, views: Option<(Vec<StoredMessage>, Vec<StoredMessage>)>) -> Preview {
    let (before, after) = views.unzip();
    Preview {
        draft: previewed.id.to_string(),
        expires_at: previewed.expires_at,
        report: previewed.draft.report.clone(),
        summaries: previewed.draft.summaries(),
        before,
        after,
    }
}

/// Keeps a draft, with what it takes out of the context of the session that it was made from.
pub(super) fn keep(
    sessions: &Sessions,
    key: &SessionKey,
    session: &LiveSession,
    draft: Draft,
) -> Result<StoredPreview, ApiError> {
    let handles = draft.epoch().into_iter().flat_map(|epoch| &epoch.edits).filter_map(|edit| edit.recall.as_ref());
    let items: Vec<ArchivedContent> = handles.filter_map(|handle| session.recall(handle).ok().flatten()).collect();
    Ok(sessions.drafts.keep(key, Arc::from(create::new_id()?), draft, items))
}

/// A preview to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyRequest {
    /// The preview's `draft`.
    draft: String,
    /// Texts in place of its summaries, by their number.
    #[serde(default)]
    summaries: Vec<EditedSummary>,
}

/// Makes a preview.
struct Apply {
    previewed: StoredPreview,
    summaries: Vec<EditedSummary>,
}

impl Operation for Apply {
    type Output = (Report, Option<u32>);

    async fn run(&self, sessions: &Arc<Sessions>, opened: &mut CachedSession) -> Result<Self::Output, ApiError> {
        let mut draft = Draft::clone(&self.previewed.draft);
        if draft.made_from() != opened.live.session().state_hash() {
            return Err(Problem::StaleDraft.into());
        }
        for summary in &self.summaries {
            let edited = draft.edit_summary(summary.number, &summary.text, &**opened.live.ledger().counter());
            edited.map_err(|error| live(error.into()))?;
        }
        for item in self.previewed.items.iter() {
            opened.live.parts().1.put(item.clone()).map_err(|error| live(error.into()))?;
        }
        let before = opened.live.session().next_epoch();
        let report = opened.live.apply_previewed(draft).await.map_err(live)?;
        require_made(sessions, &report)?;
        Ok((report, newest(&opened.live, before)))
    }

    fn account(&self, sessions: &Sessions, (report, _): &Self::Output) {
        account(sessions, report);
    }

    const IS_COMPACTION: bool = true;
}

/// Makes the compaction that was previewed, with some of its summaries edited.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/apply", tag = "sessions", request_body = ApplyRequest,
    params(SessionId),
    responses((status = 200, description = "It is made, or there was nothing to do", body = Compacted))
)]
pub(crate) async fn apply(named: NamedSession, request: Request) -> Result<Json<Compacted>, ApiError> {
    let ask: ApplyRequest = json_of(request, &named.sessions.core.settings.limits).await?;
    named.sessions.info(&named.key).await?;
    let previewed = match named.sessions.drafts.find(&named.key, &ask.draft) {
        DraftLookup::Draft(previewed) => previewed,
        DraftLookup::Passed => return Err(Problem::StaleDraft.into()),
        DraftLookup::Nothing => {
            return Err(Problem::UnknownDraft.into());
        }
    };
    let apply = Apply { previewed, summaries: ask.summaries };
    Ok(Json(Compacted::new(named.change(apply).await?)))
}
