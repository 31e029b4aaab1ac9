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
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};

use crate::error::ApiError;
use crate::proxy;
use crate::state::App;

/// Every route with its own pattern: what the log and the metrics name. A test holds it against the OpenAPI document.
pub(crate) const PATHS: [&str; 11] = [
    "/v1/compact",
    "/v1/preview",
    "/v1/check",
    "/v1/inspect",
    "/v1/compress",
    "/v1/retrieve",
    "/v1/retrieve/{hash}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
];

/// The routes. Sessions that are kept in a store are a router of their own, to be merged here.
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
        .fallback(proxy::proxy)
}

/// A route that answers other methods in JSON too.
fn only(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.fallback(wrong_method)
}

async fn wrong_method() -> Response {
    let help = "GET /openapi.json lists the routes with their methods";
    let status = StatusCode::METHOD_NOT_ALLOWED;
    ApiError::new(status, "wrong-method", "this route takes another method", help).into_response()
}

/// The answer to a path that is nobody's.
pub(crate) fn no_route() -> ApiError {
    let help = "GET /openapi.json lists the routes; with --upstream other paths are a provider's";
    ApiError::new(StatusCode::NOT_FOUND, "no-route", "there is no such route", help)
}
