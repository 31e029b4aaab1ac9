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

pub(crate) use input::SessionId;
pub(crate) use open::{check_exists, context_of};
pub(crate) use state::Sessions;

/// The routes.
pub(crate) fn router(sessions: Arc<Sessions>) -> Router {
    let one = get(list::get).merge(patch(list::describe)).merge(delete(list::delete));
    Router::new()
        .route("/v1/sessions", get(list::list).merge(post(create::create)))
        .route("/v1/sessions/import", post(create::import))
        .route("/v1/sessions/{id}", one)
        .route("/v1/sessions/{id}/messages", get(messages::messages).merge(post(messages::append)))
        .route("/v1/sessions/{id}/messages/{message}/behind", get(messages::behind))
        .route("/v1/sessions/{id}/summary", get(messages::summary))
        .route("/v1/sessions/{id}/request", get(render::request))
        .route("/v1/sessions/{id}/check", get(maintain::check))
        .route("/v1/sessions/{id}/maintain", post(maintain::maintain))
        .route("/v1/sessions/{id}/preview", post(compact::preview))
        .route("/v1/sessions/{id}/apply", post(compact::apply))
        .route("/v1/sessions/{id}/compact", post(compact::compact))
        .route("/v1/sessions/{id}/undo", post(history::undo))
        .route("/v1/sessions/{id}/history", get(history::history))
        .route("/v1/sessions/{id}/epochs/{epoch}", get(history::epoch))
        .route("/v1/sessions/{id}/recall/{handle}", get(history::recall))
        .route("/v1/sessions/{id}/overflow", post(maintain::overflow))
        .route("/v1/sessions/{id}/search", get(search::search))
        .route("/v1/search", get(search::search_all))
        .with_state(sessions)
}
