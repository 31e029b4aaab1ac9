//! From settings to a service that answers.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use epitome::store::{Store, StoreError};
use epitome::{Registry, Runtime};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::app::App;
use crate::events;
use crate::listen::{self, Patience, files};
use crate::proxy::random_key;
use crate::settings::{Settings, StoreLocation};
use crate::threads;

/// Why the service does not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Others could call it, and nothing keeps them from it.
    #[error("{0} can be reached from other machines: give it a token, or listen on 127.0.0.1")]
    TokenNeeded(SocketAddr),
    /// The address is taken or not this machine's.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// Something that it needs is not there.
    #[error("cannot start: {0}")]
    Setup(String),
    /// The store of the sessions cannot be opened.
    #[error("the store cannot be opened: {0}")]
    Store(String),
    /// It had to stop.
    #[error("stopped: {0}")]
    Stopped(#[from] io::Error),
}

/// A service that listens.
#[derive(Debug)]
pub struct Service {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
}

impl Service {
    /// Listens where the settings say; answers nothing yet. `runtime` is what compacts, `registry` knows the strategies that
    /// callers may name.
    ///
    /// # Errors
    ///
    /// Other machines could call the service and there is no token; the address cannot be bound; the store cannot be
    /// opened.
    pub async fn bind(runtime: Runtime, registry: Registry, settings: Settings) -> Result<Self, ServeError> {
        let address = settings.listen;
        if !address.ip().is_loopback() && settings.tokens.is_empty() {
            return Err(ServeError::TokenNeeded(address));
        }
        let listen = |error| ServeError::Listen { address, error };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let store = open_store(&settings.store).await?;
        let feed = events::open(store.as_ref()).await.map_err(|error| ServeError::Store(with_cause(&error)))?;
        let mut settings = settings;
        if let Some(store) = store.as_ref().filter(|_| !settings.upstreams.is_empty())
            && let Some(key) = key_or_none(kept_key(store).await, &settings.store)?
        {
            settings.item_keys.push(&key);
        }
        let app = App::new(runtime, registry, settings, store, feed).map_err(ServeError::Setup)?;
        Ok(Self { listener, address, app })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is done; then accepts no new requests, and waits for those under way as long as the
    /// settings say.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let limits = &self.app.core.settings.limits;
        let wait = limits.shutdown_timeout;
        let router = self.app.router();
        let (stopping, stopped) = oneshot::channel::<()>();
        let sessions = Arc::clone(&self.app.sessions);
        let shut_down = async move {
            stop.await;
            tracing::info!("stopping");
            sessions.hub.close();
            let _ = stopping.send(());
        };
        tracing::info!(address = %self.address, "listening");
        let patience = Patience { headers: limits.body_timeout, write: limits.write_timeout };
        let connections = Arc::clone(&self.app.connections);
        let served = async move {
            listen::serve(self.listener, router, connections, patience, shut_down).await;
            // Work on sessions whose caller has left.
            self.app.sessions.under_way.wait_until_idle().await;
        };
        tokio::select! {
            () = served => {}
            () = grace_period(stopped, wait) => tracing::warn!("stopped with requests under way"),
        }
        Ok(())
    }
}

/// The store where sessions are kept, if there is to be one.
async fn open_store(keeping: &StoreLocation) -> Result<Option<Store>, ServeError> {
    let (address, is_needed) = match keeping {
        StoreLocation::Nowhere => return Ok(None),
        StoreLocation::Store(store) => return Ok(Some(store.clone())),
        StoreLocation::In(address) => (address, true),
        StoreLocation::IfPossible(address) => (address, false),
    };
    match Store::open(address).await {
        Ok(store) => Ok(Some(store)),
        Err(error) => {
            let problem = with_cause(&error);
            if is_needed {
                return Err(ServeError::Store(problem));
            }
            tracing::error!(%problem, "the store cannot be opened: this service keeps no sessions");
            Ok(None)
        }
    }
}

/// An error with what is behind it.
fn with_cause(error: &StoreError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

/// The key for compaction items that the store keeps, for all services that share it.
async fn kept_key(store: &Store) -> Result<String, ServeError> {
    let fresh = random_key().map_err(ServeError::Setup)?;
    store.service_key("compaction-items", &fresh).await.map_err(|error| ServeError::Store(with_cause(&error)))
}

/// The key that the store keeps; none, and logged, where it gives none and the service may do without a store: then items
/// are signed with the given keys, or with one of this process.
fn key_or_none(kept: Result<String, ServeError>, keeping: &StoreLocation) -> Result<Option<String>, ServeError> {
    match (kept, keeping) {
        (Err(problem), StoreLocation::IfPossible(_)) => {
            tracing::error!(%problem, "the store keeps no key for compaction items: they may end with this process");
            Ok(None)
        }
        (kept, _) => kept.map(Some),
    }
}

/// Done some time after the service began to stop; never where it does not.
async fn grace_period(stopped: oneshot::Receiver<()>, wait: Duration) {
    match stopped.await {
        Ok(()) => tokio::time::sleep(wait).await,
        Err(_) => std::future::pending().await,
    }
}

/// Runs a service on threads of its own until the process is asked to stop (Ctrl-C, or SIGTERM on Unix). `ready`
/// receives the address that it listens on. The process may open as many files from here on as the system allows it,
/// and takes no more connections than these are enough for.
pub fn serve(
    runtime: Runtime,
    registry: Registry,
    mut settings: Settings,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let wanted = settings.limits.connections;
    settings.limits.connections = files::connections(wanted, files::raise_limit());
    if settings.limits.connections < wanted {
        tracing::warn!(
            wanted,
            possible = settings.limits.connections,
            "the limit on open files allows fewer connections"
        );
    }
    if settings.tokens.has_several_tenants() {
        // Counting one tenant's very large sessions on all cores must not slow down other tenants. Where the host has
        // such threads already, they stay as they are.
        let counting = rayon::ThreadPoolBuilder::new().start_handler(|_| threads::lower_priority());
        if let Err(error) = counting.build_global() {
            tracing::debug!(%error, "the threads that count are not the service's own");
        }
    }
    let runtimes = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("epitome-serve").build()?;
    let outcome = runtimes.block_on(async {
        let service = Service::bind(runtime, registry, settings).await?;
        ready(service.address());
        service.run(stop_signal()).await
    });
    // Compactions whose callers have stopped waiting are not waited for either.
    runtimes.shutdown_background();
    outcome
}

/// Done when the process is asked to stop.
async fn stop_signal() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending::<()>().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_keeps_no_key() {
        let check = |kept: Result<&str, &str>, keeping: StoreLocation, expect: Result<Option<&str>, &str>| {
            let kept = kept.map(str::to_owned).map_err(|problem| ServeError::Store(problem.to_owned()));
            let key = key_or_none(kept, &keeping).map_err(|error| error.to_string());
            assert_eq!(key.as_ref().map(Option::as_deref).map_err(String::as_str), expect, "{keeping:?}");
        };
        let address = || "sqlite:here".to_owned();
        check(Ok("key"), StoreLocation::In(address()), Ok(Some("key")));
        check(Ok("key"), StoreLocation::IfPossible(address()), Ok(Some("key")));
        check(Err("full"), StoreLocation::In(address()), Err("the store cannot be opened: full"));
        check(Err("full"), StoreLocation::IfPossible(address()), Ok(None));
    }
}
