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

use crate::state::Core;

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> Router {
    Router::new()
        .route("/v1/compact", post(compact::compact))
        .route("/v1/preview", post(compact::preview))
        .route("/v1/check", post(check::check))
        .route("/v1/inspect", post(inspect::inspect))
        .route("/v1/compress", post(compress::compress))
        .route("/v1/retrieve", post(retrieve::by_body))
        .route("/v1/retrieve/{hash}", get(retrieve::by_path))
        .with_state(core)
}
