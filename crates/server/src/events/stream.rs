//! `GET /v1/sessions/{id}/events`: server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use epitome::live;
use futures_util::stream;
use utoipa::ToSchema;

use super::hub::{MOST_LISTENERS, NextEvent, Subscription};
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody};
use crate::sessions::{SessionId, Sessions, check_exists, context_of};

/// The number of the last event that a client has heard, when it comes back.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An event of the stream, as clients of server-sent events see it.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it is only described: what is written is text")]
pub(crate) struct ServerSentEvent {
    /// What to send as `Last-Event-ID` to go on behind it.
    id: Option<String>,
    /// Its name: `compaction_start`, `compaction_done`, `token_update`, …
    event: String,
    /// It as JSON, with its name as `event`, the session's id and a number.
    data: String,
}

/// What happens to a session, as it happens: `event` is its name, `data` its JSON with the session's id and a number. The
/// first is a `token_update`. One that comes back with `Last-Event-ID` first gets what it has missed, or `missed` where that
/// is not kept any more, as one that is too slow does.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "events", security(("token" = [])),
    params(("id" = String, Path, description = "The session")),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream", body = ServerSentEvent),
        (status = 400, description = "The id cannot be one", body = ErrorBody),
        (status = 401, description = "No token, or a wrong one", body = ErrorBody),
        (status = 404, description = "There is no such session", body = ErrorBody),
        (status = 429, description = "Too many requests in a minute, or too many listeners", body = ErrorBody),
        (status = 503, description = "The store or the service is busy or gone", body = ErrorBody),
    )
)]
pub(crate) async fn stream(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    SessionId(id): SessionId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let subscription = subscribe(&sessions, &caller, &id, after).await?;
    let events = stream::unfold((Arc::clone(&sessions), subscription), |(sessions, mut subscription)| async move {
        let NextEvent::Event(told) = subscription.next().await else { return None };
        let event = Event::default().id(sessions.hub.id_of(&subscription, &told)).event(told.name).data(&told.json);
        Some((Ok::<_, Infallible>(event), (sessions, subscription)))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Proxies in between are not to collect events before they pass them on.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Watches a session that there is. Behind what was missed, an event says how it stands.
pub(super) async fn subscribe(
    sessions: &Arc<Sessions>,
    caller: &Caller,
    id: &str,
    after: Option<&str>,
) -> Result<Subscription, ApiError> {
    check_exists(sessions, caller, id).await?;
    let mut subscription = sessions.hub.subscribe(&caller.tenant, id, after).ok_or_else(|| {
        let message = format!("more than {MOST_LISTENERS} listeners");
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too-many-listeners", message, "close some")
    })?;
    // Read after that, so that nothing that happens in between is missed.
    let context = context_of(sessions, caller, id).await?;
    subscription.tell_now(&live::Event::TokenUpdate { context });
    Ok(subscription)
}
