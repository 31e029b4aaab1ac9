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

use crate::http::only;
use crate::sessions::Sessions;

/// The routes with their patterns.
pub(crate) const PATHS: [&str; 2] = ["/v1/sessions/{id}/events", "/v1/sessions/{id}/socket"];

/// The routes.
pub(crate) fn router(sessions: Arc<Sessions>) -> Router {
    let [of_stream, of_socket] = PATHS;
    Router::new().route(of_stream, only(get(stream))).route(of_socket, only(get(socket))).with_state(sessions)
}
