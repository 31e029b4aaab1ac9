//! The service: sessions that it keeps in a store, compactions for runtimes that keep their own history, a proxy in front
//! of providers, and a console.
//!
//! [`Service::bind`] gives a service that listens, [`Service::run`] answers until it is stopped. All its state beside
//! the store is in memory and bounded. `docs/service.md` has the routes, the limits and what the proxy does.
//!
//! `app` composes: each feature (sessions, events, the proxy, agents, channels, memories, the console, compactions by request
//! in `routes`) owns its state, which holds the `state` that no feature owns; `http` is what all of them speak; each route is
//! behind the `guard`, with the access that `app` gives it.

mod agents;
mod app;
mod auth;
mod background;
mod channels;
mod console;
mod events;
mod guard;
mod http;
mod listen;
mod logs;
mod mcp;
mod memories;
mod metrics;
mod openapi;
mod proxy;
mod requester;
mod routes;
mod service;
mod sessions;
mod settings;
mod state;
mod status;
mod storage;
#[cfg(feature = "otel")]
mod telemetry;
mod threads;
mod title;
mod worker_pool;
mod workers;

pub use auth::{TokenError, Tokens};
pub use channels::hosts::{ChannelHost, ChannelHosts, NoHost};
pub use logs::{LogError, Logs, log_to_stderr};
pub use proxy::{ItemKeyError, ItemKeys, UpstreamError, Upstreams};
pub use service::{ServeError, Service, serve};
pub use settings::{Limits, Memory, RateScope, Settings, StoreLocation};
