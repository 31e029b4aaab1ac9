//! `…/kept` and `…/release`: the messages that are kept by hand.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use epitome::session::MessageRange;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::failure::live;
use super::input::SessionId;
use super::named::NamedSession;
use super::open::Operation;
use super::opened::CachedSession;
use super::state::Sessions;
use crate::http::{ApiError, json_of};

/// The messages that are kept by hand.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptMessages {
    /// The messages by their numbers in the log: `#37`, `#40-#52`.
    #[schema(value_type = Vec<String>)]
    kept: Vec<MessageRange>,
}

/// Lists the messages that are kept by hand.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/kept", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "The messages", body = KeptMessages))
)]
pub(crate) async fn kept(named: NamedSession) -> Result<Json<KeptMessages>, ApiError> {
    named.read(|seen| Ok(Json(KeptMessages { kept: MessageRange::runs(seen.opened.live.kept_messages()) }))).await
}

/// Which messages are kept no longer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReleaseRequest {
    /// The messages, as `keep` names them.
    #[schema(value_type = Vec<String>)]
    messages: Vec<MessageRange>,
}

/// Messages that are kept no longer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Released {
    /// Those that were kept.
    #[schema(value_type = Vec<String>)]
    released: Vec<MessageRange>,
    /// The session's version now.
    version: u64,
}

/// Releases messages.
struct Release(ReleaseRequest);

impl Operation for Release {
    type Output = Vec<MessageRange>;

    async fn run(&self, _app: &Arc<Sessions>, opened: &mut CachedSession) -> Result<Self::Output, ApiError> {
        opened.live.release(&self.0.messages).map_err(live)
    }

    const NEEDS_SETTINGS: bool = false;
}

/// Lets later compactions treat messages that were kept by hand as any other.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/release", tag = "sessions", request_body = ReleaseRequest,
    params(SessionId),
    responses((status = 200, description = "They are released, or none of them was kept", body = Released))
)]
pub(crate) async fn release(named: NamedSession, request: Request) -> Result<Json<Released>, ApiError> {
    let ask: ReleaseRequest = json_of(request, &named.sessions.core.settings.limits).await?;
    let changed = named.change(Release(ask)).await?;
    Ok(Json(Released { released: changed.value, version: changed.version }))
}
