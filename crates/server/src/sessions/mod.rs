//! Sessions that the service keeps in a store.
//!
//! A request that changes a session waits for its turn at the session's [desk](desk) and for the store's lock, works on the
//! session in memory, and stores what is new; requests that only look never wait for a compaction. [`open`] does this for
//! all routes.

mod cache;
mod command;
pub(crate) mod compact;
pub(crate) mod create;
mod desk;
mod drafts;
mod failure;
pub(crate) mod history;
mod indexes;
mod input;
mod key;
pub(crate) mod list;
pub(crate) mod maintain;
pub(crate) mod messages;
mod open;
mod opened;
pub(crate) mod render;
mod schema;
pub(crate) mod search;
mod state;
mod under_way;

use std::sync::Arc;

use axum::Router;
use axum::routing::{delete, get, patch, post};

use crate::http::only;

pub(crate) use input::SessionId;
pub(crate) use open::{check_exists, context_of};
pub(crate) use state::Sessions;

/// The routes with their patterns.
pub(crate) const PATHS: [&str; 19] = [
    "/v1/sessions",
    "/v1/sessions/import",
    "/v1/sessions/{id}",
    "/v1/sessions/{id}/messages",
    "/v1/sessions/{id}/messages/{message}/behind",
    "/v1/sessions/{id}/summary",
    "/v1/sessions/{id}/request",
    "/v1/sessions/{id}/check",
    "/v1/sessions/{id}/maintain",
    "/v1/sessions/{id}/preview",
    "/v1/sessions/{id}/apply",
    "/v1/sessions/{id}/compact",
    "/v1/sessions/{id}/undo",
    "/v1/sessions/{id}/history",
    "/v1/sessions/{id}/epochs/{epoch}",
    "/v1/sessions/{id}/recall/{handle}",
    "/v1/sessions/{id}/overflow",
    "/v1/sessions/{id}/search",
    "/v1/search",
];

/// The routes.
pub(crate) fn router(sessions: Arc<Sessions>) -> Router {
    let one = get(list::get).merge(patch(list::describe)).merge(delete(list::delete));
    Router::new()
        .route("/v1/sessions", only(get(list::list).merge(post(create::create))))
        .route("/v1/sessions/import", only(post(create::import)))
        .route("/v1/sessions/{id}", only(one))
        .route("/v1/sessions/{id}/messages", only(get(messages::messages).merge(post(messages::append))))
        .route("/v1/sessions/{id}/messages/{message}/behind", only(get(messages::behind)))
        .route("/v1/sessions/{id}/summary", only(get(messages::summary)))
        .route("/v1/sessions/{id}/request", only(get(render::request)))
        .route("/v1/sessions/{id}/check", only(get(maintain::check)))
        .route("/v1/sessions/{id}/maintain", only(post(maintain::maintain)))
        .route("/v1/sessions/{id}/preview", only(post(compact::preview)))
        .route("/v1/sessions/{id}/apply", only(post(compact::apply)))
        .route("/v1/sessions/{id}/compact", only(post(compact::compact)))
        .route("/v1/sessions/{id}/undo", only(post(history::undo)))
        .route("/v1/sessions/{id}/history", only(get(history::history)))
        .route("/v1/sessions/{id}/epochs/{epoch}", only(get(history::epoch)))
        .route("/v1/sessions/{id}/recall/{handle}", only(get(history::recall)))
        .route("/v1/sessions/{id}/overflow", only(post(maintain::overflow)))
        .route("/v1/sessions/{id}/search", only(get(search::search)))
        .route("/v1/search", only(get(search::search_all)))
        .with_state(sessions)
}
