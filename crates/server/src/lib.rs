//! The service: compactions over HTTP for runtimes that keep their own history, and a proxy in front of providers.
//!
//! [`Service::bind`] gives a service that listens, [`Service::run`] answers until it is told to stop. Everything that it
//! remembers is in memory and bounded. `docs/service.md` has the routes, the limits and what the proxy does.

mod archive;
mod auth;
mod error;
mod guard;
mod logs;
mod metrics;
mod openapi;
mod proxy;
mod routes;
mod service;
mod settings;
mod state;

pub use auth::{TokenError, Tokens};
pub use logs::log_to_stderr;
pub use proxy::{UpstreamError, Upstreams};
pub use service::{ServeError, Service, serve};
pub use settings::{Limits, Memory, Settings};
