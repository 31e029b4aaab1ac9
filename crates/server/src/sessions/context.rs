//! `…/context`: what fills a session's context, what would leave it next, and what has left.

use axum::Json;
use epitome::context::ContextReport;
use epitome::live::LiveSession;

use super::input::SessionId;
use super::named::NamedSession;
use crate::http::{ApiError, Problem};

/// Shows what fills a session's context, what a compaction made now would take out and why, and what has left. No model is
/// asked.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/context", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "Parts, fullness, the next compaction, what has left", body = ContextReport))
)]
pub(crate) async fn context(named: NamedSession) -> Result<Json<ContextReport>, ApiError> {
    // On a copy: working the next compaction out takes as long as making it, and others wait for the session.
    let copy = named.read(|seen| Ok(seen.opened.live.copy())).await?;
    let reported = named.work_on(copy, |copy: LiveSession| async move { Ok(copy.report_context().await) });
    let given_up = || Problem::Timeout.with("the next compaction took too long to work out").with_help("try again");
    reported.await.unwrap_or_else(|_| Err(given_up())).map(Json)
}
