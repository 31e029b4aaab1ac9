//! `GET /healthz`, `/readyz`, `/metrics` and `/openapi.json`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

use crate::openapi::Document;
use crate::state::App;

/// How long the store may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// That the service runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Alive {
    /// Always `ok`.
    status: &'static str,
    /// The version of the service.
    version: &'static str,
}

/// What is ready.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ready {
    /// `ok`; `unavailable` where the store does not answer.
    status: &'static str,
    /// Whether requests are sent on to a provider.
    proxy: bool,
    /// Where sessions are kept: `sqlite`, `postgres`, `none`; `unavailable` where that does not answer.
    sessions: &'static str,
}

/// Tells that the service runs.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, body = Alive)))]
pub(crate) async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Tells that requests can be taken.
#[utoipa::path(
    get, path = "/readyz", tag = "operation",
    responses(
        (status = 200, description = "They can", body = Ready),
        (status = 503, description = "The store of the sessions does not answer; the rest works", body = Ready),
    )
)]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> (StatusCode, Json<Ready>) {
    let sessions = match app.sessions() {
        Err(_) => Ok("none"),
        Ok(sessions) => {
            let health = tokio::time::timeout(PATIENCE, sessions.store.health()).await;
            health.ok().and_then(Result::ok).map(|health| health.backend).ok_or("unavailable")
        }
    };
    let proxy = !app.settings.upstreams.is_empty();
    match sessions {
        Ok(sessions) => (StatusCode::OK, Json(Ready { status: "ok", proxy, sessions })),
        Err(sessions) => (StatusCode::SERVICE_UNAVAILABLE, Json(Ready { status: "unavailable", proxy, sessions })),
    }
}

/// What has happened, for Prometheus. The figures are of all tenants together.
#[utoipa::path(
    get, path = "/metrics", tag = "operation", security(("token" = [])),
    responses((status = 200, description = "Prometheus' text format", body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (items, bytes) = app.archives.size();
    let (sessions, session_bytes) = app.proxy.size();
    let (open, idle) = app.connections.size();
    let gauges = [
        ("epitome_connections", "Connections that are open.", open as f64),
        ("epitome_idle_connections", "Connections on which no request is under way.", idle as f64),
        ("epitome_archive_items", "Items that can be retrieved.", items as f64),
        ("epitome_archive_bytes", "Bytes that they take.", bytes as f64),
        ("epitome_sessions", "Sessions whose decisions the proxy remembers.", sessions as f64),
        ("epitome_session_bytes", "Bytes that these take.", session_bytes as f64),
        ("epitome_listeners", "Those who watch sessions.", f64::from(app.hub.listeners())),
    ];
    let mut gauges = gauges.to_vec();
    let mut counters = Vec::new();
    if let Ok(sessions) = app.sessions() {
        gauges.extend(sessions.gauges());
        let errors = sessions.store_errors.load(Ordering::Relaxed) as f64;
        counters.push(("epitome_store_errors_total", "How often the store failed.", errors));
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.text(&gauges, &counters))
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "operation",
    responses((status = 200, description = "The OpenAPI document of this service", body = Object))
)]
pub(crate) async fn openapi() -> Json<utoipa::openapi::OpenApi> {
    Json(Document::openapi())
}
