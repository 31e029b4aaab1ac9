//! Connections to the database.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

pub(super) fn failed(doing: &'static str) -> impl Fn(tokio_postgres::Error) -> StoreError {
    move |error| match error.code() {
        Some(&SqlState::DISK_FULL) => StoreError::Full { source: error.into() },
        _ => StoreError::Database { doing, source: error.into() },
    }
}

pub(super) fn pool(config: &Config, connections: u32) -> Result<Pool, StoreError> {
    let managed = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match tls(config)? {
        Some(tls) => Manager::from_config(config.clone(), tls, managed),
        None => Manager::from_config(config.clone(), NoTls, managed),
    };
    let pool = Pool::builder(manager).max_size(connections.max(1) as usize).runtime(Runtime::Tokio1);
    let pool = pool.wait_timeout(Some(Duration::from_secs(60))).build();
    pool.map_err(|error| StoreError::Database { doing: "connecting to the database", source: error.into() })
}

/// The way to encrypt connections; `None` where they are not to be encrypted, or where the system has no certificates
/// to check a server's with and checking is not required.
pub(super) fn tls(config: &Config) -> Result<Option<MakeRustlsConnect>, StoreError> {
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let built = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier);
    match built {
        Ok(tls) => Ok(Some(MakeRustlsConnect::new(tls.with_no_client_auth()))),
        Err(_) if config.get_ssl_mode() == SslMode::Prefer => Ok(None),
        Err(error) => Err(StoreError::Database { doing: "preparing encrypted connections", source: error.into() }),
    }
}

pub(super) async fn connection(pool: &Pool) -> Result<Object, StoreError> {
    let connected = pool.get().await;
    connected.map_err(|error| match error {
        PoolError::Closed => StoreError::Closed,
        error => StoreError::Database { doing: "connecting to the database", source: error.into() },
    })
}
