//! What happens to sessions, told to those who watch.
//!
//! A session that is worked on has an [`Announcer`]; those who watch it have a [`Subscription`] each. Progress is told at
//! once, outcomes only when they are stored: who hears that a compaction is done finds it done.

mod announcer;
mod hub;
mod socket;
mod stream;

pub(crate) use announcer::Announcer;
pub(crate) use hub::Hub;

// The routes, with their descriptions for the OpenAPI document.
pub(crate) use socket::{__path_socket, socket};
pub(crate) use stream::{__path_stream, stream};

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::sessions::Sessions;

/// The routes.
pub(crate) fn router(sessions: Arc<Sessions>) -> Router {
    Router::new()
        .route("/v1/sessions/{id}/events", get(stream))
        .route("/v1/sessions/{id}/socket", get(socket))
        .with_state(sessions)
}
