//! Settings of the service.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use epitome::store::Store;

use epitome::Config;

use crate::auth::Tokens;
use crate::channels::hosts::ChannelHosts;
use crate::proxy::{ItemKeys, Upstreams};

/// Settings of the service, beside the configuration of compactions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The tokens of callers. Without any token every caller is admitted, and the service listens on this machine only.
    pub tokens: Tokens,
    /// The providers behind the proxy; none switches the proxy off.
    pub upstreams: Upstreams,
    /// The limits on requests.
    pub limits: Limits,
    /// The bounds of the memory.
    pub memory: Memory,
    /// Where sessions are kept.
    pub store: StoreLocation,
    /// The configuration that the service's runtime was built from: the settings of agents and sessions override it.
    pub config: Config,
    /// The hosts that channels given over HTTP may lead to; without hosts there can be no such channels.
    pub channel_hosts: ChannelHosts,
    /// The keys that the proxy signs compaction items with. The key that a store keeps is added to these; without either,
    /// items last as long as the process.
    pub item_keys: ItemKeys,
    /// Whether the known window of the model that a request names is its budget. For configurations that set neither
    /// window nor model.
    pub budget_by_model: bool,
}

impl Default for Settings {
    /// Port 7777 of this machine, no token, no proxy, no store.
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7777),
            tokens: Tokens::default(),
            upstreams: Upstreams::default(),
            limits: Limits::default(),
            memory: Memory::default(),
            store: StoreLocation::Nowhere,
            config: Config::default(),
            channel_hosts: ChannelHosts::default(),
            item_keys: ItemKeys::default(),
            budget_by_model: false,
        }
    }
}

/// Where sessions are kept, by the address of a store: `sqlite:PATH`, `sqlite::memory:`, `postgres://user@host/database`.
#[derive(Clone)]
pub enum StoreLocation {
    /// No store: there are no sessions, and the rest of the service works.
    Nowhere,
    /// There; where that cannot be opened, the service does not start.
    In(String),
    /// There; where that cannot be opened, the service says so and starts without sessions.
    IfPossible(String),
    /// In a store that the host has opened.
    Store(Store),
}

impl fmt::Debug for StoreLocation {
    /// Without the address, which may hold a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Nowhere => "Nowhere",
            Self::In(_) => "In(..)",
            Self::IfPossible(_) => "IfPossible(..)",
            Self::Store(_) => "Store(..)",
        })
    }
}

/// Who counts the requests of a tenant in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateScope {
    /// All instances on one PostgreSQL database together; each instance by itself where there is none.
    #[default]
    Store,
    /// Each instance by itself.
    Instance,
}

/// The limits on requests.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest body, in bytes: 413 beyond.
    pub body_bytes: usize,
    /// Messages, blocks and calls of one request: 413 beyond, and the proxy sends it on as it came. A file that is imported
    /// may have four times as many, a kept session too. Each takes about 3 KB while it is worked on, however short it is.
    pub parts: usize,
    /// Connections at once. Where there are more, idle ones make room; where none is idle, only health is answered.
    pub connections: usize,
    /// The same for one address. Behind a proxy all connections come from one address.
    pub connections_per_address: usize,
    /// Requests under way at once: 503 beyond. A streamed answer counts until its headers are sent.
    pub concurrent: usize,
    /// Requests of one tenant in a minute: 429 beyond. 0 for any number.
    pub requests_per_minute: u32,
    /// Who counts these.
    pub rate_scope: RateScope,
    /// Compactions at once; others wait for their turn. 0 for the number of cores.
    pub workers: usize,
    /// The time for a body to arrive: 408 beyond.
    pub body_timeout: Duration,
    /// The time for which a client may read nothing of its answer: the connection is closed beyond.
    pub write_timeout: Duration,
    /// The time for a compaction, waiting included: 503 beyond, and the work ends. The proxy sends the original then.
    pub work_timeout: Duration,
    /// The time for which a request on a kept session may wait for those before it, and for its own compaction: 503
    /// beyond. A request that was waiting is then not carried out; a compaction that was begun runs to its end.
    pub session_timeout: Duration,
    /// The time for which a provider may be silent: 504 beyond, or the end of a stream.
    pub upstream_timeout: Duration,
    /// The time for requests under way after the service was asked to stop.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    /// 32 MiB, 100,000 parts, 4,096 connections, 1,024 of one address, 256 requests at once, 1,200 a minute, a worker for
    /// each core, half a minute for a body and for a client that takes nothing, one minute for a compaction, ten minutes for
    /// a kept session and for a provider, half a minute for a shutdown.
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            parts: 100_000,
            connections: 4_096,
            connections_per_address: 1_024,
            concurrent: 256,
            requests_per_minute: 1_200,
            rate_scope: RateScope::Store,
            workers: 0,
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            work_timeout: Duration::from_secs(60),
            session_timeout: Duration::from_secs(600),
            upstream_timeout: Duration::from_secs(600),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

/// The bounds of the service's memory. The least recently used entry is forgotten first.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes of what left a context that each tenant can retrieve.
    pub archive_bytes: usize,
    /// Sessions of which the proxy remembers what it decided.
    pub sessions: usize,
    /// Bytes that these decisions may take.
    pub session_bytes: usize,
    /// Kept sessions that are held in memory; others are read from the store when they are asked for.
    pub open_sessions: usize,
    /// Bytes that these may take.
    pub open_bytes: usize,
}

impl Default for Memory {
    /// 64 MiB for each tenant's archive, 1,000 sessions of the proxy with 64 MiB in all, 256 kept ones with 256 MiB.
    fn default() -> Self {
        Self {
            archive_bytes: 64 << 20,
            sessions: 1_000,
            session_bytes: 64 << 20,
            open_sessions: 256,
            open_bytes: 256 << 20,
        }
    }
}
