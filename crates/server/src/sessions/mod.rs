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
pub(crate) mod input;
pub(crate) mod list;
pub(crate) mod maintain;
pub(crate) mod messages;
mod open;
mod opened;
pub(crate) mod render;
mod schema;
pub(crate) mod search;
mod under_way;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::Router;
use axum::routing::{delete, get, patch, post};
use epitome::live::ContextTokens;
use epitome::store::{Store, Tenant};

use crate::auth::Caller;
use crate::events;
use crate::http::{ApiError, only};
use crate::settings::Memory;
use crate::state::App;

use cache::Cache;
use desk::{Desks, Key};
use drafts::Drafts;
use indexes::Indexes;
use under_way::UnderWay;

pub(crate) use input::SessionId;

/// The routes with their patterns.
pub(crate) const PATHS: [&str; 21] = [
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
    "/v1/sessions/{id}/events",
    "/v1/sessions/{id}/socket",
    "/v1/sessions/{id}/search",
    "/v1/search",
];

/// The routes.
pub(crate) fn router() -> Router<Arc<App>> {
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
        .route("/v1/sessions/{id}/events", only(get(events::stream)))
        .route("/v1/sessions/{id}/socket", only(get(events::socket)))
        .route("/v1/sessions/{id}/search", only(get(search::search)))
        .route("/v1/search", only(get(search::search_all)))
}

/// The sessions of a store.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(crate) store: Arc<dyn Store>,
    desks: Desks,
    cache: Cache,
    drafts: Drafts,
    indexes: Indexes,
    pub(crate) under_way: UnderWay,
    /// How often the store failed.
    pub(crate) store_errors: AtomicU64,
}

impl Sessions {
    pub(crate) fn new(store: Arc<dyn Store>, memory: &Memory) -> Self {
        Self {
            store,
            desks: Desks::default(),
            cache: Cache::new(memory.open_sessions, memory.open_bytes),
            drafts: Drafts::default(),
            indexes: Indexes::new(memory.open_bytes),
            under_way: UnderWay::default(),
            store_errors: AtomicU64::new(0),
        }
    }

    /// A caller's tenant in the store.
    pub(crate) fn tenant(&self, caller: &Caller) -> Result<Tenant, ApiError> {
        Tenant::new(Arc::clone(&caller.tenant)).map_err(|error| self.failed(error))
    }

    fn key(&self, caller: &Caller, id: &str) -> Result<Key, ApiError> {
        Ok((self.tenant(caller)?, Arc::from(id)))
    }

    /// What there is of sessions now: name, help and figure of each gauge.
    pub(crate) fn gauges(&self) -> [(&'static str, &'static str, f64); 6] {
        let ((sessions, bytes), (busy, waiting)) = (self.cache.size(), self.desks.busy());
        let (indexes, index_bytes) = self.indexes.size();
        [
            ("epitome_open_sessions", "Kept sessions in memory.", sessions as f64),
            ("epitome_open_session_bytes", "Bytes that these take.", bytes as f64),
            ("epitome_indexes", "Kept sessions whose index is in memory.", indexes as f64),
            ("epitome_index_bytes", "Bytes that these take.", index_bytes as f64),
            ("epitome_busy_sessions", "Kept sessions that are worked on or waited for.", busy as f64),
            ("epitome_waiting_requests", "Requests that wait for their turn at a kept session.", waiting.into()),
        ]
    }
}

/// Whether there is such a session.
pub(crate) async fn known(app: &Arc<App>, tenant: &str, id: &str) -> Result<(), ApiError> {
    let sessions = app.sessions()?;
    let tenant = Tenant::new(tenant).map_err(|error| sessions.failed(error))?;
    sessions.info(&(tenant, Arc::from(id))).await.map(|_| ())
}

/// How full a session is.
pub(crate) async fn context(app: &Arc<App>, tenant: &str, id: &str) -> Result<ContextTokens, ApiError> {
    let sessions = app.sessions()?;
    let tenant = Tenant::new(tenant).map_err(|error| sessions.failed(error))?;
    open::read_at(app, (tenant, Arc::from(id)), |seen| Ok(seen.opened.live.context())).await
}

/// A session's name in logs: ids may be people's.
fn hashed((tenant, id): &Key) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tenant.as_str().as_bytes()).update(b"\n").update(id.as_bytes());
    hasher.finalize().to_hex()[..12].to_owned()
}
