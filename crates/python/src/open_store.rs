//! An open store.

use epitome::engine::block_on;
use epitome::store::{Store, Tenant};

use crate::failure::Failure;

/// An open store, and what its connections need.
#[derive(Debug)]
pub(crate) struct OpenStore {
    pub(crate) store: Store,
    pub(crate) tenant: Tenant,
    #[cfg(feature = "postgres")]
    runtime: Runtime,
}

impl OpenStore {
    /// The store at an address, for a tenant of it.
    pub(crate) fn open(address: &str, tenant: &str) -> Result<Self, Failure> {
        let tenant = Tenant::new(tenant)?;
        #[cfg(feature = "postgres")]
        let runtime = Runtime::start()?;
        #[cfg(feature = "postgres")]
        let _entered = runtime.enter();
        let store = block_on(Store::open(address))?;
        Ok(Self {
            store,
            tenant,
            #[cfg(feature = "postgres")]
            runtime,
        })
    }

    /// Waits for a future that asks the store.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        #[cfg(feature = "postgres")]
        let _entered = self.runtime.enter();
        block_on(future)
    }
}

/// The runtime of a store's connections.
#[cfg(feature = "postgres")]
#[derive(Debug)]
struct Runtime {
    /// `None` only while it is dropped.
    tokio: Option<tokio::runtime::Runtime>,
    handle: tokio::runtime::Handle,
    process: u32,
}

#[cfg(feature = "postgres")]
impl Runtime {
    fn start() -> Result<Self, Failure> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let built = builder.worker_threads(1).thread_name("epitome-store").enable_all().build();
        let tokio = built.map_err(|error| Failure::other(format!("starting a thread failed: {error}")))?;
        let handle = tokio.handle().clone();
        Ok(Self { tokio: Some(tokio), handle, process: std::process::id() })
    }

    fn enter(&self) -> tokio::runtime::EnterGuard<'_> {
        self.handle.enter()
    }
}

#[cfg(feature = "postgres")]
impl Drop for Runtime {
    fn drop(&mut self) {
        let Some(tokio) = self.tokio.take() else { return };
        match self.process == std::process::id() {
            true => tokio.shutdown_background(),
            false => std::mem::forget(tokio), // a process that was forked off has no thread of it to wait for
        }
    }
}
