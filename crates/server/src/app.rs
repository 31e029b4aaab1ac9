//! The service made of its features: who gets what, and which routes there are.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use epitome::store::Store;
use epitome::{Registry, Runtime};

use crate::events::Hub;
use crate::guard::{self, Guard, Routes};
use crate::http::wrong_method;
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
}

impl App {
    /// Errors where something that the proxy needs is not there.
    pub(crate) fn new(
        runtime: Runtime,
        registry: Registry,
        settings: Settings,
        store: Option<Arc<dyn Store>>,
    ) -> Result<Self, String> {
        let limits = &settings.limits;
        let connections = Connections::new(limits.connections, limits.connections_per_address);
        let core = Core::new(runtime, registry, settings, store);
        let proxy = Proxy::new(Arc::clone(&core))?;
        let sessions = Sessions::new(Arc::clone(&core), Arc::new(Hub::default()));
        Ok(Self { core, sessions, proxy, connections })
    }

    /// What answers requests, behind the guard. What no feature has a route for is the proxy's.
    pub(crate) fn router(&self) -> Router {
        let core = || Arc::clone(&self.core);
        let sessions = || Arc::clone(&self.sessions);
        let proxy = || Arc::clone(&self.proxy);
        let status = Status { sessions: sessions(), proxy: proxy(), connections: Arc::clone(&self.connections) };
        Router::new()
            .merge(routes::router(core()))
            .merge(agents::router(core()))
            .merge(channels::router(core()))
            .merge(memories::router(core()))
            .merge(sessions::router(sessions()))
            .merge(events::router(sessions()))
            .merge(mcp::router(sessions()))
            .merge(status::router(status))
            .merge(openapi::router())
            .merge(console::router(proxy()))
            .merge(proxy::router(proxy()))
            .method_not_allowed_fallback(wrong_method)
            .layer(from_fn_with_state(Guard::new(core(), self.routes()), guard::guard))
    }

    /// What the guard has to know of the routes.
    fn routes(&self) -> Routes {
        let of_health = status::HEALTH.into_iter().chain([openapi::PATH]);
        Routes {
            named: openapi::described_paths().chain(console::PATHS).chain(mcp::PATHS).collect(),
            proxied: proxy::ROUTE,
            open: of_health.chain(console::open_paths(&self.core.settings)).collect(),
            beside: &status::METRICS,
            health: &status::HEALTH,
            is_read: proxy::is_conversation,
        }
    }
}
