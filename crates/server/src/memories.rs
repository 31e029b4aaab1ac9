//! `/v1/memories`: what sessions left for later, to be read and forgotten.

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use epitome::store::{Memory, MemoryKind, Scope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, PathParameters, Problem, QueryParameters, check_name, page_size};
use crate::openapi::with_problems;
use crate::requester::Requester;
use crate::state::Core;

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(with_problems(routes!(list), &[&[Problem::BadName, Problem::BadLimit, Problem::NoStore]]))
        .routes(with_problems(routes!(delete), &[&[Problem::NoStore, Problem::UnknownMemory]]))
        .with_state(core)
}

/// Which memories.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemoryQuery {
    /// Only memories of this session.
    #[param(min_length = 1, max_length = 200)]
    session: Option<String>,
    /// Only memories that hold one of these words, in upper or lower case, those with the most of them first.
    query: Option<String>,
    /// The most memories: 50 without it.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Something worth knowing beyond the messages in which it was said.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Memory)]
pub(crate) struct MemoryItem {
    /// The memory's id, which deletes it. In one session texts that differ only in upper and lower case and white space
    /// have the same id; the same text in two sessions is two memories.
    id: String,
    /// The memory's text: a sentence that a person typed, or what a command showed.
    text: String,
    /// The kind.
    kind: MemoryKind,
    /// The session in which it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Arc<str>>,
    /// The id of the message that says it.
    message: String,
    /// When that was, in milliseconds since 1970, where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
}

impl From<Memory> for MemoryItem {
    fn from(memory: Memory) -> Self {
        Self {
            id: memory.id(),
            kind: memory.kind,
            session: memory.session,
            message: memory.message.to_string(),
            time: memory.time,
            text: memory.text,
        }
    }
}

/// Memories.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryList {
    /// The memories: the last stored first, or those that fit best.
    items: Vec<MemoryItem>,
}

/// Lists the tenant's memories, the last stored first; with words to look for, those that hold the most of them first.
#[utoipa::path(
    get, path = "/v1/memories", tag = "sessions", params(MemoryQuery),
    responses((status = 200, description = "The memories", body = MemoryList))
)]
pub(crate) async fn list(
    Requester { core, caller }: Requester,
    QueryParameters(query): QueryParameters<MemoryQuery>,
) -> Result<Json<MemoryList>, ApiError> {
    let storage = core.storage()?;
    let (tenant, most) = (storage.tenant(&caller)?, page_size(query.limit)? as usize);
    let scope = match query.session {
        Some(id) => {
            check_name("session", &id)?;
            Scope::Session(id.into())
        }
        None => Scope::All,
    };
    let found = match &query.query {
        Some(words) => storage.store.search_memories(&tenant, &scope, words, most).await,
        None => storage.store.recent_memories(&tenant, &scope, most).await,
    };
    let found = found.map_err(|error| storage.api_error(error))?;
    Ok(Json(MemoryList { items: found.into_iter().map(MemoryItem::from).collect() }))
}

/// Forgets a memory.
#[utoipa::path(
    delete, path = "/v1/memories/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The memory's id, as the list has it")),
    responses((status = 204, description = "It is forgotten"))
)]
pub(crate) async fn delete(
    Requester { core, caller }: Requester,
    PathParameters(id): PathParameters<String>,
) -> Result<StatusCode, ApiError> {
    let storage = core.storage()?;
    let tenant = storage.tenant(&caller)?;
    // No other text is an id, and it may be one that a database does not accept.
    let may_be = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if may_be && storage.store.forget_memory(&tenant, &id).await.map_err(|error| storage.api_error(error))? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::UnknownMemory.into())
}
