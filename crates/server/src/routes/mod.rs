//! The routes, one file each.

pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod compress;
pub(crate) mod inspect;
pub(crate) mod job;
pub(crate) mod retrieve;
pub(crate) mod status;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::http::only;
use crate::state::App;
use crate::{agents, channels, console, mcp, memories, proxy, sessions};

/// Every route with its own pattern: what the log and the metrics name.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    PATHS.iter().chain(&sessions::PATHS).chain(&console::PATHS).chain(&mcp::PATHS).copied()
}

/// The routes that this module and small ones have. A test holds them against the OpenAPI document.
const PATHS: [&str; 17] = [
    "/v1/compact",
    "/v1/preview",
    "/v1/check",
    "/v1/inspect",
    "/v1/compress",
    "/v1/retrieve",
    "/v1/retrieve/{hash}",
    "/v1/agents",
    "/v1/agents/{name}",
    "/v1/channels",
    "/v1/channels/{name}",
    "/v1/memories",
    "/v1/memories/{id}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
];

/// The routes that are described in the OpenAPI document.
#[cfg(test)]
pub(crate) fn described() -> impl Iterator<Item = &'static str> {
    PATHS.iter().chain(&sessions::PATHS).copied()
}

/// The routes.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/compact", only(post(compact::compact)))
        .route("/v1/preview", only(post(compact::preview)))
        .route("/v1/check", only(post(check::check)))
        .route("/v1/inspect", only(post(inspect::inspect)))
        .route("/v1/compress", only(post(compress::compress)))
        .route("/v1/retrieve", only(post(retrieve::by_body)))
        .route("/v1/retrieve/{hash}", only(get(retrieve::by_path)))
        .route("/healthz", only(get(status::alive)))
        .route("/readyz", only(get(status::ready)))
        .route("/metrics", only(get(status::metrics)))
        .route("/openapi.json", only(get(status::openapi)))
        .merge(agents::router())
        .merge(channels::router())
        .merge(memories::router())
        .merge(sessions::router())
        .merge(console::router())
        .merge(mcp::router())
        .fallback(proxy::proxy)
}
