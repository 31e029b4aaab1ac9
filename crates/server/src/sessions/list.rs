//! `/v1/sessions` and `/v1/sessions/{id}`: what sessions there are, and one of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use epitome::engine::{Budget, Threshold};
use epitome::live::ContextTokens;
use epitome::store::{Page, Paging, SessionFilter, SessionInfo};
use epitome::strategy::TaskKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::input::{SessionId, check_title, maybe_null};
use super::key::SessionKey;
use super::marks::is_marked;
use super::named::NamedSession;
use super::open::{SessionSnapshot, in_turn};
use super::state::Sessions;
use crate::agents::runtime_for;
use crate::auth::Caller;
use crate::http::{ApiError, Problem, QueryParameters, check_name, json_of, page_size};

/// A session that is kept.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionAnswer {
    /// The session's entry in the list.
    #[serde(flatten)]
    info: SessionInfo,
    /// The fill of its context.
    context: ContextTokens,
    /// Its budget.
    budget: BudgetAnswer,
    /// Its task type.
    task: Task,
    /// Whether a compaction is under way.
    running: bool,
    /// Why the session's own settings do not work, where they do not: the figures are those of the service's own settings
    /// then, and nothing compacts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

/// The budget of a session, in tokens.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionBudget)]
struct BudgetAnswer {
    /// The model's window.
    window: u32,
    /// The room for messages: without the answer's reserve and the tool definitions.
    usable: u32,
    /// From here on a compaction is suggested; null where no number of tokens calls for one.
    #[schema(required)]
    soft: Option<u32>,
    /// From here on a compaction is due; null where no number of tokens calls for one.
    #[schema(required)]
    hard: Option<u32>,
    /// The target of a compaction.
    target: u32,
}

/// The task type of a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionTask)]
struct Task {
    /// The kind of task.
    kind: TaskKind,
    /// From 0 to 1.
    confidence: f64,
}

impl BudgetAnswer {
    fn new(budget: &Budget) -> Self {
        let usable = budget.usable();
        let tokens = |threshold: Threshold| (threshold != Threshold::NEVER).then(|| threshold.tokens(usable));
        Self {
            window: budget.window,
            usable,
            soft: tokens(budget.soft),
            hard: tokens(budget.hard),
            target: budget.target.tokens(usable),
        }
    }
}

impl SessionAnswer {
    pub(super) fn new(seen: SessionSnapshot<'_>) -> Self {
        let live = &seen.opened.live;
        let task = seen.opened.task();
        Self {
            info: seen.info.clone(),
            context: live.context(),
            budget: BudgetAnswer::new(live.budget()),
            task: Task { kind: task.kind, confidence: task.confidence },
            running: seen.running,
            problem: seen.opened.problem.clone(),
        }
    }
}

/// Which sessions to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only sessions of this agent.
    agent: Option<String>,
    /// Only sessions whose title contains this, in any case of letters.
    title: Option<String>,
    /// Only sessions that changed at this time or later, in milliseconds since 1970.
    updated_since: Option<i64>,
    /// The most sessions: 50 without it.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Where to go on: `next` of the page before.
    after: Option<String>,
}

/// A page of a list of sessions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// The sessions, the last changed first.
    items: Vec<SessionInfo>,
    /// The cursor of the next page; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// Lists sessions, the last changed first.
#[utoipa::path(
    get, path = "/v1/sessions", tag = "sessions", params(ListQuery),
    responses((status = 200, description = "A page of them", body = SessionList))
)]
pub(crate) async fn list(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    QueryParameters(which): QueryParameters<ListQuery>,
) -> Result<Json<SessionList>, ApiError> {
    let storage = sessions.storage()?;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let filter =
        SessionFilter { agent: given(which.agent), title: given(which.title), updated_since: which.updated_since };
    let paging = Paging { most: page_size(which.limit)?, after: given(which.after) };
    let listed = storage.store.sessions(&storage.tenant(&caller)?, &filter, &paging).await;
    let Page { items, next } = listed.map_err(|error| storage.api_error(error))?;
    Ok(Json(SessionList { items, next }))
}

/// Describes one session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "The session", body = SessionAnswer))
)]
pub(crate) async fn get(named: NamedSession) -> Result<Json<SessionAnswer>, ApiError> {
    let is_marked = is_marked(&named.sessions, &named.key).await?;
    let mut answer = named.read(|seen| Ok(SessionAnswer::new(seen))).await?;
    answer.running |= is_marked;
    Ok(Json(answer))
}

/// The time that a model's call waits for work that it does not depend on.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// The setting of a session that says whether its contexts name handles.
pub(super) const HANDLES: &str = "handles";

/// The new description of a session; null clears a field.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// A title for people.
    #[serde(default, deserialize_with = "maybe_null")]
    #[schema(value_type = Option<String>, max_length = 500)]
    title: Option<Option<String>>,
    /// The agent that it belongs to.
    #[serde(default, deserialize_with = "maybe_null")]
    #[schema(value_type = Option<String>, max_length = 200)]
    agent: Option<Option<String>>,
    /// Settings of its own, over those of its agent: the keys of `[agents.NAME]`.
    #[serde(default, deserialize_with = "maybe_null")]
    #[schema(value_type = Option<Object>)]
    settings: Option<Option<serde_json::Map<String, Value>>>,
}

/// Changes the description of a session. Missing fields stay.
#[utoipa::path(
    patch, path = "/v1/sessions/{id}", tag = "sessions", request_body = Description,
    params(SessionId),
    responses((status = 200, description = "The session", body = SessionAnswer))
)]
pub(crate) async fn describe(named: NamedSession, request: Request) -> Result<Json<SessionAnswer>, ApiError> {
    let described: Description = json_of(request, &named.sessions.core.settings.limits).await?;
    let NamedSession { sessions, key } = &named;
    sessions.info(key).await?;
    if let Some(Some(title)) = &described.title {
        check_title(title)?;
    }
    if let Some(Some(agent)) = &described.agent {
        check_name("agent", agent)?;
    }
    in_turn(sessions, key, describe_now(sessions, key, described)).await??;
    get(named).await
}

/// Has a session's contexts name handles from its next compaction on: its model has the tools for them. Where other
/// requests work on the session, this continues in the background when it gets its turn. The session's own setting of
/// handles takes precedence.
pub(super) async fn name_handles(named: &NamedSession) {
    let NamedSession { sessions, key } = named.clone();
    let naming = tokio::spawn(async move {
        if let Err(error) = name_handles_now(&sessions, &key).await {
            // The next call tries again.
            tracing::warn!(code = error.problem.code(), "a session whose model looks things up names no handles yet");
        }
    });
    let _ = tokio::time::timeout(PATIENCE, naming).await;
}

async fn name_handles_now(sessions: &Arc<Sessions>, key: &SessionKey) -> Result<(), ApiError> {
    let storage = sessions.storage()?;
    let _working = sessions.under_way.begin();
    let described = async {
        let mut about = sessions.info(key).await?.about;
        if about.settings.is_null() {
            about.settings = Value::Object(serde_json::Map::new());
        }
        match about.settings.as_object_mut() {
            Some(settings) if !settings.contains_key(HANDLES) => settings.insert(HANDLES.to_owned(), true.into()),
            _ => return Ok(()),
        };
        runtime_for(&sessions.core, &sessions.runtimes, &key.0, &about).await?;
        storage.store.describe(&key.0, &key.1, &about).await.map_err(|error| storage.api_error(error))
    };
    in_turn(sessions, key, described).await?
}

async fn describe_now(sessions: &Arc<Sessions>, key: &SessionKey, described: Description) -> Result<(), ApiError> {
    let storage = sessions.storage()?;
    let mut about = sessions.info(key).await?.about;
    if let Some(title) = described.title {
        about.title = title;
    }
    let is_resettled = described.agent.is_some() || described.settings.is_some();
    if let Some(agent) = described.agent {
        about.agent = agent;
    }
    if let Some(settings) = described.settings {
        about.settings = settings.map_or(Value::Null, Value::Object);
    }
    // A title can be given whether they work or not.
    if is_resettled {
        runtime_for(&sessions.core, &sessions.runtimes, &key.0, &about).await?;
    }
    storage.store.describe(&key.0, &key.1, &about).await.map_err(|error| storage.api_error(error))
}

/// Deletes a session with everything that left its context, and its memories.
#[utoipa::path(
    delete, path = "/v1/sessions/{id}", tag = "sessions",
    params(SessionId),
    responses((status = 204, description = "It is gone"))
)]
pub(crate) async fn delete(named: NamedSession) -> Result<StatusCode, ApiError> {
    let NamedSession { sessions, key } = named;
    let storage = sessions.storage()?;
    sessions.info(&key).await?;
    let deleting = async {
        sessions.cache.take(&key);
        sessions.drafts.forget(&key);
        sessions.indexes.forget(&key);
        let deleted = storage.store.delete_session(&key.0, &key.1).await;
        if matches!(deleted, Ok(true)) {
            sessions.hub.end_session(key.0.as_str(), &key.1);
            // Before the lock: what is told of another session of this id is heard behind it.
            sessions.hub.flush().await;
        }
        deleted
    };
    match in_turn(&sessions, &key, deleting).await? {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => Err(Problem::UnknownSession.into()),
        Err(error) => Err(storage.api_error(error)),
    }
}
