//! How the service runs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::auth::Tokens;
use crate::proxy::Upstreams;

/// How the service runs, beside what the configuration says of compactions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may call it. Without any token everybody may, and it listens on this machine only.
    pub tokens: Tokens,
    /// The providers behind the proxy; none switches the proxy off.
    pub upstreams: Upstreams,
    /// What it refuses.
    pub limits: Limits,
    /// What it remembers.
    pub memory: Memory,
    /// Whether the window of the model that a request names counts, where something is known of it. Meant for
    /// configurations that set neither window nor model.
    pub budget_by_model: bool,
}

impl Default for Settings {
    /// Port 7777 of this machine, no token, no proxy.
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7777),
            tokens: Tokens::default(),
            upstreams: Upstreams::default(),
            limits: Limits::default(),
            memory: Memory::default(),
            budget_by_model: false,
        }
    }
}

/// What the service refuses.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest body, in bytes: 413 beyond.
    pub body_bytes: usize,
    /// Requests under way at once: 503 beyond. A streamed answer counts until its headers are sent.
    pub concurrent: usize,
    /// Requests of one tenant in a minute: 429 beyond. 0 for any number.
    pub requests_per_minute: u32,
    /// Compactions at once; others wait for their turn. 0 for the number of cores.
    pub workers: usize,
    /// How long a body may take to arrive: 408 beyond.
    pub body_timeout: Duration,
    /// How long a compaction may take, waiting included: 503 beyond. The proxy sends the original then.
    pub work_timeout: Duration,
    /// How long a provider may say nothing: 504 beyond, or the end of a stream.
    pub upstream_timeout: Duration,
    /// How long requests under way may take after the service was told to stop.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    /// 32 MiB, 256 at once, 1,200 a minute, a worker for each core, half a minute for a body, one minute for a compaction,
    /// ten minutes for a provider, half a minute for a shutdown.
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            concurrent: 256,
            requests_per_minute: 1_200,
            workers: 0,
            body_timeout: Duration::from_secs(30),
            work_timeout: Duration::from_secs(60),
            upstream_timeout: Duration::from_secs(600),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

/// What the service remembers, all of it in memory. What is used least recently is forgotten first.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes of what left a context that each tenant can retrieve.
    pub archive_bytes: usize,
    /// Sessions of which the proxy remembers what it decided.
    pub sessions: usize,
    /// Bytes that these decisions may take.
    pub session_bytes: usize,
}

impl Default for Memory {
    /// 64 MiB for each tenant's archive, 1,000 sessions of 64 MiB in all.
    fn default() -> Self {
        Self { archive_bytes: 64 << 20, sessions: 1_000, session_bytes: 64 << 20 }
    }
}
