//! `GET /healthz`, `/readyz`, `/metrics` and `/openapi.json`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

use crate::openapi::Document;
use crate::state::App;

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
    /// Always `ok`: there is nothing that has to be waited for.
    status: &'static str,
    /// Whether requests are sent on to a provider.
    proxy: bool,
    /// Where sessions are kept; `memory` until there is a store.
    sessions: &'static str,
}

/// Tells that the service runs.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, body = Alive)))]
pub(crate) async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Tells that requests can be taken.
#[utoipa::path(get, path = "/readyz", tag = "operation", responses((status = 200, body = Ready)))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Json<Ready> {
    Json(Ready { status: "ok", proxy: !app.settings.upstreams.is_empty(), sessions: "memory" })
}

/// What has happened, for Prometheus. The figures are of all tenants together.
#[utoipa::path(
    get, path = "/metrics", tag = "operation", security(("token" = [])),
    responses((status = 200, description = "Prometheus' text format", body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (items, bytes) = app.archives.size();
    let (sessions, session_bytes) = app.proxy.size();
    let gauges = [
        ("epitome_archive_items", "Items that can be retrieved.", items as f64),
        ("epitome_archive_bytes", "Bytes that they take.", bytes as f64),
        ("epitome_sessions", "Sessions whose decisions the proxy remembers.", sessions as f64),
        ("epitome_session_bytes", "Bytes that these take.", session_bytes as f64),
    ];
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.text(&gauges))
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "operation",
    responses((status = 200, description = "The OpenAPI document of this service", body = Object))
)]
pub(crate) async fn openapi() -> Json<utoipa::openapi::OpenApi> {
    Json(Document::openapi())
}
