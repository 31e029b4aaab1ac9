//! The service made of its features: who gets what, and what each of their routes passes.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use epitome::store::Store;
use epitome::{Registry, Runtime};
use utoipa_axum::router::OpenApiRouter;

use crate::events::{FeedTasks, Hub};
use crate::guard::{self, Access, Guard};
use crate::http::Problem;
use crate::listen::connections::Connections;
use crate::proxy::{self, Proxy};
use crate::sessions::{self, Sessions};
use crate::settings::Settings;
use crate::state::Core;
use crate::status::{self, Status};
use crate::{agents, channels, console, events, mcp, memories, openapi, routes};

/// The service, without the listener that brings it requests.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) core: Arc<Core>,
    pub(crate) sessions: Arc<Sessions>,
    proxy: Arc<Proxy>,
    pub(crate) connections: Arc<Connections>,
    /// What keeps the events of all instances coming.
    _feed: Option<FeedTasks>,
}

impl App {
    /// Errors where something that the proxy needs is not there.
    pub(crate) fn new(
        runtime: Runtime,
        registry: Registry,
        settings: Settings,
        store: Option<Store>,
        (hub, feed): (Arc<Hub>, Option<FeedTasks>),
    ) -> Result<Self, String> {
        let limits = &settings.limits;
        let connections = Connections::new(limits.connections, limits.connections_per_address);
        let core = Core::new(runtime, registry, settings, store);
        let proxy = Proxy::new(Arc::clone(&core))?;
        let sessions = Sessions::new(Arc::clone(&core), hub);
        Ok(Self { core, sessions, proxy, connections, _feed: feed })
    }

    /// The service's router: the routes of all features, each behind the guard with the access that it needs. A path
    /// without a route is the provider's.
    pub(crate) fn router(&self) -> Router {
        let core = || Arc::clone(&self.core);
        let sessions = || Arc::clone(&self.sessions);
        let status =
            Status { sessions: sessions(), proxy: Arc::clone(&self.proxy), connections: Arc::clone(&self.connections) };
        let guard = Guard::new(core());
        let behind = |access: Access, router: OpenApiRouter| {
            let (router, document) = router.split_for_parts();
            let guarded = router
                .method_not_allowed_fallback(async || Problem::WrongMethod)
                .layer(from_fn_with_state((Arc::clone(&guard), access), guard::guard));
            (guarded, document)
        };
        let parts = [
            behind(Access::Health, status::health_router(status.clone())),
            behind(Access::Open, openapi::router().merge(console::router(&self.core.settings).into())),
            behind(Access::Metrics, status::metrics_router(status)),
            behind(
                Access::Caller,
                OpenApiRouter::new()
                    .merge(routes::router(core()))
                    .merge(agents::router(core()))
                    .merge(channels::router(core()))
                    .merge(memories::router(core()))
                    .merge(sessions::router(sessions()))
                    .merge(events::router(sessions()))
                    .merge(mcp::router(sessions()).into())
                    .merge(proxy::list_router(Arc::clone(&self.proxy))),
            ),
            behind(Access::Provider(proxy::is_conversation), proxy::router(Arc::clone(&self.proxy)).into()),
        ];
        openapi::serve(parts)
    }
}
