//! `GET /healthz`, `/readyz` and `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::events::Outbox;
use crate::listen::connections::Connections;
use crate::proxy::Proxy;
use crate::sessions::Sessions;

/// The time for the store to answer a health check.
const PATIENCE: Duration = Duration::from_secs(5);

/// The sources of health and metrics.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) connections: Arc<Connections>,
}

/// The routes that only say whether the service runs.
pub(crate) fn health_router(status: Status) -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(alive)).routes(routes!(ready)).with_state(status)
}

/// The route of the metrics.
pub(crate) fn metrics_router(status: Status) -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(metrics)).with_state(status)
}

/// That the service runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Alive {
    /// Always `ok`.
    status: &'static str,
    /// The version of the service.
    version: &'static str,
}

/// The readiness of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ready {
    /// `ok`; `unavailable` where the store does not answer; `full` where it has no room.
    status: &'static str,
    /// Whether requests are sent on to a provider.
    proxy: bool,
    /// Where sessions are kept: `sqlite`, `postgres`, `none`; `unavailable` where that does not answer.
    sessions: &'static str,
    /// Whether channels can be stored: there is a store, and the service allows a host that they may lead to.
    takes_channels: bool,
}

/// Tells that the service runs.
#[utoipa::path(get, path = "/healthz", tag = "operation", security(()), responses((status = 200, body = Alive)))]
pub(crate) async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Tells that requests can be taken.
#[utoipa::path(
    get, path = "/readyz", tag = "operation", security(()),
    responses(
        (status = 200, description = "They can", body = Ready),
        (status = 503, description = "The store of the sessions does not answer, or is full; the rest works", body = Ready),
    )
)]
pub(crate) async fn ready(State(status): State<Status>) -> (StatusCode, Json<Ready>) {
    let core = &status.sessions.core;
    let sessions = match core.storage() {
        Err(_) => Ok("none"),
        Ok(storage) => {
            let health = tokio::time::timeout(PATIENCE, storage.store.health()).await;
            health.ok().and_then(Result::ok).map(|health| health.backend).ok_or("unavailable")
        }
    };
    let proxy = !core.settings.upstreams.is_empty();
    let takes_channels = core.storage().is_ok() && !core.settings.channel_hosts.is_empty();
    let answer = |status, sessions| Json(Ready { status, proxy, sessions, takes_channels });
    if let (Ok(sessions), Ok(storage)) = (sessions, core.storage())
        && tokio::time::timeout(PATIENCE, storage.is_full()).await == Ok(true)
    {
        return (StatusCode::SERVICE_UNAVAILABLE, answer("full", sessions));
    }
    match sessions {
        Ok(sessions) => (StatusCode::OK, answer("ok", sessions)),
        Err(sessions) => (StatusCode::SERVICE_UNAVAILABLE, answer("unavailable", sessions)),
    }
}

/// The metrics for Prometheus. The figures are of all tenants together.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses((status = 200, description = "Prometheus' text format", body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(State(status): State<Status>) -> impl IntoResponse {
    let Status { sessions: kept, proxy, connections } = status;
    let (items, bytes) = kept.core.archives.size();
    let (sessions, session_bytes) = proxy.size();
    let (open, idle) = connections.size();
    let gauges = [
        ("epitome_connections", "Connections that are open.", open as f64),
        ("epitome_idle_connections", "Connections on which no request is under way.", idle as f64),
        ("epitome_archive_items", "Items that can be retrieved.", items as f64),
        ("epitome_archive_bytes", "Bytes that they take.", bytes as f64),
        ("epitome_sessions", "Sessions whose decisions the proxy remembers.", sessions as f64),
        ("epitome_session_bytes", "Bytes that these take.", session_bytes as f64),
        ("epitome_listeners", "Those who watch sessions.", f64::from(kept.hub.listeners())),
    ];
    let mut gauges = gauges.to_vec();
    let mut counters = Vec::new();
    if let Ok(storage) = kept.core.storage() {
        gauges.extend(kept.gauges());
        let errors = storage.failures() as f64;
        counters.push(("epitome_store_errors_total", "How often the store failed.", errors));
    }
    for (name, help, value, is_counter) in kept.hub.outbox().map(Outbox::metrics).into_iter().flatten() {
        if is_counter { &mut counters } else { &mut gauges }.push((name, help, value));
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], kept.core.metrics.text(&gauges, &counters))
}
