//! `/v1/sessions` and `/v1/sessions/{id}`: what sessions there are, and one of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use epitome::engine::{Budget, Threshold};
use epitome::live::ContextTokens;
use epitome::store::{Page, Paging, SessionFilter, SessionInfo};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::input::{SessionId, check_title, maybe_null};
use super::key::SessionKey;
use super::open::{SessionSnapshot, acquire_turn, given_back, read};
use super::schema;
use super::state::Sessions;
use crate::agents::runtime_for;
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody, QueryParameters, check_name, json_of, page_size};
use crate::storage::unknown_session;

/// A session that is kept.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionAnswer {
    /// What the list says of it.
    #[serde(flatten)]
    #[schema(value_type = schema::SessionInfo)]
    info: SessionInfo,
    /// How full its context is.
    #[schema(value_type = schema::ContextTokens)]
    context: ContextTokens,
    /// How much room it has.
    budget: BudgetAnswer,
    /// What kind of task it is.
    task: Task,
    /// Whether a compaction is under way.
    running: bool,
    /// Why the session's own settings do not work, where they do not: the figures are those of the service's own settings
    /// then, and nothing compacts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

/// How much room a session has, in tokens.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionBudget)]
struct BudgetAnswer {
    /// The model's window.
    window: u32,
    /// What messages may take: without the answer's reserve and the tool definitions.
    usable: u32,
    /// From here on a compaction is suggested; null where no number of tokens calls for one.
    #[schema(required)]
    soft: Option<u32>,
    /// From here on a compaction is due; null where no number of tokens calls for one.
    #[schema(required)]
    hard: Option<u32>,
    /// What a compaction gets down to.
    target: u32,
}

/// What kind of task a session is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionTask)]
struct Task {
    /// `code`, `analysis`, `conversation`, `mixed` or `unknown`.
    #[schema(value_type = schema::TaskKind)]
    kind: &'static str,
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
            task: Task { kind: task.kind.as_str(), confidence: task.confidence },
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
    /// Those of this agent.
    agent: Option<String>,
    /// Those whose title holds this, in any case of letters.
    title: Option<String>,
    /// Those that changed at this time or later, in milliseconds since 1970.
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
    #[schema(value_type = Vec<schema::SessionInfo>)]
    items: Vec<SessionInfo>,
    /// What to ask for the next page with; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// Lists sessions, the last changed first.
#[utoipa::path(
    get, path = "/v1/sessions", tag = "sessions", security(("token" = [])), params(ListQuery),
    responses(
        (status = 200, description = "A page of them", body = SessionList),
        (status = 400, description = "The query is not what the route takes", body = ErrorBody),
        (status = 404, description = "This service keeps no sessions", body = ErrorBody),
    )
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

/// Tells of one session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions", security(("token" = [])),
    params(("id" = String, Path, description = "The session")),
    responses(
        (status = 200, description = "The session", body = SessionAnswer),
        (status = 400, description = "The id cannot be one", body = ErrorBody),
        (status = 404, description = "There is no such session", body = ErrorBody),
    )
)]
pub(crate) async fn get(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    SessionId(id): SessionId,
) -> Result<Json<SessionAnswer>, ApiError> {
    read(&sessions, &caller, &id, |seen| Ok(Json(SessionAnswer::new(seen)))).await
}

/// How long a model's call waits for what it need not wait for.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// The setting of a session that says whether its contexts name handles.
pub(super) const HANDLES: &str = "handles";

/// What is to be kept about a session from now on; null clears.
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

/// Changes what is kept about a session. What is left out stays.
#[utoipa::path(
    patch, path = "/v1/sessions/{id}", tag = "sessions", request_body = Description, security(("token" = [])),
    params(("id" = String, Path, description = "The session")),
    responses(
        (status = 200, description = "The session", body = SessionAnswer),
        (status = 400, description = "The body is not what the route takes", body = ErrorBody),
        (status = 404, description = "There is no such session", body = ErrorBody),
        (status = 422, description = "What its settings name is not there", body = ErrorBody),
    )
)]
pub(crate) async fn describe(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    SessionId(id): SessionId,
    request: Request,
) -> Result<Json<SessionAnswer>, ApiError> {
    let described: Description = json_of(request, &sessions.core.settings.limits).await?;
    let key = sessions.key(&caller, &id)?;
    sessions.info(&key).await?;
    if let Some(Some(title)) = &described.title {
        check_title(title)?;
    }
    if let Some(Some(agent)) = &described.agent {
        check_name("agent", agent)?;
    }
    let (turn, lock) = acquire_turn(&sessions, sessions.desks.go_to(&key)).await?;
    let done = describe_now(&sessions, &key, described).await;
    given_back(lock).await;
    drop(turn);
    done?;
    get(State(sessions), Extension(caller), SessionId(id)).await
}

/// Has a session's contexts name handles from its next compaction on: its model has the tools for them. Where others work on
/// the session, that goes on by itself when it is its turn. Where the session's own settings say something of handles, that
/// stands.
pub(super) async fn name_handles(sessions: &Arc<Sessions>, key: SessionKey) {
    let sessions = Arc::clone(sessions);
    let named = tokio::spawn(async move {
        if let Err(error) = name_handles_now(&sessions, &key).await {
            // The next call tries again.
            tracing::warn!(code = error.body.error.code, "a session whose model looks things up names no handles yet");
        }
    });
    let _ = tokio::time::timeout(PATIENCE, named).await;
}

async fn name_handles_now(sessions: &Arc<Sessions>, key: &SessionKey) -> Result<(), ApiError> {
    let storage = sessions.storage()?;
    let _working = sessions.under_way.begin();
    let (turn, lock) = acquire_turn(sessions, sessions.desks.go_to(key)).await?;
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
    let done = described.await;
    given_back(lock).await;
    drop(turn);
    done
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
    delete, path = "/v1/sessions/{id}", tag = "sessions", security(("token" = [])),
    params(("id" = String, Path, description = "The session")),
    responses(
        (status = 204, description = "It is gone"),
        (status = 400, description = "The id cannot be one", body = ErrorBody),
        (status = 404, description = "There is no such session", body = ErrorBody),
    )
)]
pub(crate) async fn delete(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    SessionId(id): SessionId,
) -> Result<StatusCode, ApiError> {
    let storage = sessions.storage()?;
    let key = sessions.key(&caller, &id)?;
    sessions.info(&key).await?;
    let (turn, lock) = acquire_turn(&sessions, sessions.desks.go_to(&key)).await?;
    sessions.cache.take(&key);
    sessions.drafts.forget(&key);
    sessions.indexes.forget(&key);
    let deleted = storage.store.delete_session(&key.0, &key.1).await;
    given_back(lock).await;
    drop(turn);
    match deleted {
        Ok(true) => {
            sessions.hub.end(key.0.as_str(), &key.1);
            Ok(StatusCode::NO_CONTENT)
        }
        Ok(false) => Err(unknown_session()),
        Err(error) => Err(storage.api_error(error)),
    }
}
