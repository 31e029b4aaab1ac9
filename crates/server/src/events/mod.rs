//! Events of sessions, for their listeners.
//!
//! A session that is worked on has an [`Announcer`]; each of its listeners has a [`Subscription`]. Progress is
//! announced at once, outcomes only when they are stored: a listener that hears that a compaction is done finds it in
//! the store.
//!
//! Where instances share a database, events go there through the [`outbox`] and come back to each instance through its
//! [`feed`]; [`open`] sets both up.

mod announcer;
mod feed;
mod hub;
mod outbox;
mod socket;
mod stream;
mod topic;

pub(crate) use announcer::Announcer;
pub(crate) use feed::{FeedTasks, open};
pub(crate) use hub::Hub;
pub(crate) use outbox::Outbox;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Problem;
use crate::openapi::with_problems;
use crate::sessions::Sessions;

/// The routes.
pub(crate) fn router(sessions: Arc<Sessions>) -> OpenApiRouter {
    let problems = [Problem::BadName, Problem::NoStore, Problem::UnknownSession, Problem::TooManyListeners];
    OpenApiRouter::new()
        .routes(with_problems(routes!(stream::stream), &[&problems]))
        .routes(with_problems(routes!(socket::socket), &[&problems, &[Problem::NoWebsocket]]))
        .with_state(sessions)
}
