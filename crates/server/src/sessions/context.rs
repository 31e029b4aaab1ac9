//! `…/context`: what fills a session's context, what would leave it next, and what has left.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use epitome::context::ContextReport;
use epitome::strategy::Cancellation;

use super::input::SessionId;
use super::open::read;
use super::state::Sessions;
use crate::auth::Caller;
use crate::http::{ApiError, Problem};

/// Shows what fills a session's context, what a compaction made now would take out and why, and what has left. No model is
/// asked.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/context", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "Parts, fullness, the next compaction, what has left", body = ContextReport))
)]
pub(crate) async fn context(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    SessionId(id): SessionId,
) -> Result<Json<ContextReport>, ApiError> {
    // On a copy: working the next compaction out takes as long as making it, and others wait for the session.
    let mut copy = read(&sessions, &caller, &id, |seen| Ok(seen.opened.live.copy())).await?;
    let cancellation = Cancellation::new();
    copy.cancel_by(cancellation.clone());
    let work =
        sessions.core.turns.run_future(&caller.tenant, &cancellation, async move { copy.report_context().await });
    let worked = tokio::time::timeout(sessions.core.settings.limits.session_timeout, work).await;
    let given_up = || Problem::Timeout.with("the next compaction took too long to work out").with_help("try again");
    Ok(Json(worked.map_err(|_| given_up())??))
}
