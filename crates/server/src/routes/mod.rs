//! Compactions for runtimes that keep their own history: one file each.

pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod compress;
pub(crate) mod inspect;
pub(crate) mod job;
pub(crate) mod retrieve;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::http::only;
use crate::state::Core;

/// The routes with their patterns.
pub(crate) const PATHS: [&str; 7] =
    ["/v1/compact", "/v1/preview", "/v1/check", "/v1/inspect", "/v1/compress", "/v1/retrieve", "/v1/retrieve/{hash}"];

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> Router {
    Router::new()
        .route("/v1/compact", only(post(compact::compact)))
        .route("/v1/preview", only(post(compact::preview)))
        .route("/v1/check", only(post(check::check)))
        .route("/v1/inspect", only(post(inspect::inspect)))
        .route("/v1/compress", only(post(compress::compress)))
        .route("/v1/retrieve", only(post(retrieve::by_body)))
        .route("/v1/retrieve/{hash}", only(get(retrieve::by_path)))
        .with_state(core)
}
