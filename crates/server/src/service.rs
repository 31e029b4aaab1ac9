//! From settings to a service that answers.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use epitome::store::{SqlStore, Store};
use epitome::{Registry, Runtime};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::app::App;
use crate::listen::{self, Patience, files};
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
        /// What the system says.
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
    /// Other machines could call it and there is no token; the address cannot be had; the store cannot be opened.
    pub async fn bind(runtime: Runtime, registry: Registry, settings: Settings) -> Result<Self, ServeError> {
        let address = settings.listen;
        if !address.ip().is_loopback() && settings.tokens.is_empty() {
            return Err(ServeError::TokenNeeded(address));
        }
        let listen = |error| ServeError::Listen { address, error };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let store = open_store(&settings.store).await?;
        let app = App::new(runtime, registry, settings, store).map_err(ServeError::Setup)?;
        Ok(Self { listener, address, app })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is done; then takes nothing new, and waits for what is under way as long as the settings say.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let limits = &self.app.core.settings.limits;
        let wait = limits.shutdown_timeout;
        let router = self.app.router();
        let (stopping, stopped) = oneshot::channel::<()>();
        let sessions = Arc::clone(&self.app.sessions);
        let told = async move {
            stop.await;
            tracing::info!("stopping");
            sessions.hub.close();
            let _ = stopping.send(());
        };
        tracing::info!(address = %self.address, "listening");
        let patience = Patience { headers: limits.body_timeout, write: limits.write_timeout };
        let connections = Arc::clone(&self.app.connections);
        let served = async move {
            listen::serve(self.listener, router, connections, patience, told).await;
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
async fn open_store(keeping: &StoreLocation) -> Result<Option<Arc<dyn Store>>, ServeError> {
    let (address, is_needed) = match keeping {
        StoreLocation::Nowhere => return Ok(None),
        StoreLocation::Store(store) => return Ok(Some(Arc::clone(store))),
        StoreLocation::In(address) => (address, true),
        StoreLocation::IfPossible(address) => (address, false),
    };
    match SqlStore::open(address).await {
        Ok(store) => Ok(Some(Arc::new(store))),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let problem = format!("{error}{cause}");
            if is_needed {
                return Err(ServeError::Store(problem));
            }
            tracing::error!(%problem, "the store cannot be opened: this service keeps no sessions");
            Ok(None)
        }
    }
}

/// Done some time after the service began to stop; never where it does not.
async fn grace_period(stopped: oneshot::Receiver<()>, wait: Duration) {
    match stopped.await {
        Ok(()) => tokio::time::sleep(wait).await,
        Err(_) => std::future::pending().await,
    }
}

/// Runs a service on threads of its own until the process is told to stop (Ctrl-C, or SIGTERM on Unix). `ready` is told
/// where it listens. The process may open as many files from here on as the system allows it, and takes no more connections
/// than these are enough for.
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
        // What counts the very large sessions of one tenant on all cores is in no other's way. Where the host has such
        // threads already, they stay as they are.
        let counting = rayon::ThreadPoolBuilder::new().start_handler(|_| threads::step_back());
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
    // Compactions that nobody waits for any more are not waited for either.
    runtimes.shutdown_background();
    outcome
}

/// Done when the process is told to stop.
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
