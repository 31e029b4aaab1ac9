//! `GET /v1/sessions/{id}/events`: server-sent events.

use std::convert::Infallible;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use epitome::live;
use futures_util::stream;
use utoipa::ToSchema;

use super::hub::{MOST_LISTENERS, NextEvent, Subscription};
use crate::http::{ApiError, Problem};
use crate::sessions::{NamedSession, SessionId};

/// The number of the last event that a client has heard, when it comes back.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An event of the stream, as clients of server-sent events see it.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it is only described: what is written is text")]
pub(crate) struct ServerSentEvent {
    /// The value of `Last-Event-ID` to continue behind this event.
    id: Option<String>,
    /// The event's name: `compaction_start`, `compaction_done`, `token_update`, …
    event: String,
    /// It as JSON, with its name as `event`, the session's id and a number.
    data: String,
}

/// The events of a session, as they happen: `event` is the name, `data` its JSON with the session's id and a number.
/// The first is a `token_update`. A client that returns with `Last-Event-ID` first gets the events that it has missed,
/// or `missed` where these are not kept any more; so does a client that is too slow.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "events",
    params(SessionId),
    responses((status = 200, description = "The events", content_type = "text/event-stream", body = ServerSentEvent))
)]
pub(crate) async fn stream(named: NamedSession, headers: HeaderMap) -> Result<Response, ApiError> {
    let after = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let subscription = subscribe(&named, after).await?;
    let events = stream::unfold((named.sessions, subscription), |(sessions, mut subscription)| async move {
        let NextEvent::Event(event) = subscription.next().await else { return None };
        let event = Event::default().id(sessions.hub.id_of(&subscription, &event)).event(&event.name).data(&event.json);
        Some((Ok::<_, Infallible>(event), (sessions, subscription)))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Proxies in between are not to collect events before they pass them on.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Subscribes to an existing session. Behind the missed events, an event has the current state.
pub(super) async fn subscribe(named: &NamedSession, after: Option<&str>) -> Result<Subscription, ApiError> {
    let NamedSession { sessions, key } = named;
    sessions.info(key).await?; // there must be one
    let joined = sessions.hub.join(key.0.as_str(), &key.1, after).await;
    let mut subscription = joined
        .map_err(|error| sessions.core.storage().map_or_else(|none| none, |storage| storage.api_error(error)))?
        .ok_or_else(|| Problem::TooManyListeners.with(format!("more than {MOST_LISTENERS} listeners")))?;
    // Read after that, so that nothing that happens in between is missed.
    let (context, usage) = named.context_and_usage().await?;
    subscription.send_now(&live::Event::TokenUpdate { context, usage });
    Ok(subscription)
}
