//! The arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use epitome_server::ChannelHost;

use super::config::ConfigArgs;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen at; port 0 takes a free one. Any address but this machine's own needs a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7777")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
    /// The environment variable that holds the token which callers must send
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub(crate) token_variable: Option<String>,
    /// A file with a line `tenant token` for each token that callers may send
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable with the keys for the compaction items of the proxy, one a line; the first one signs
    #[arg(long, value_name = "NAME", conflicts_with = "item_key_file")]
    pub(crate) item_key_variable: Option<String>,
    /// A file with these keys. Without either, the key that the store keeps signs
    #[arg(long, value_name = "FILE")]
    pub(crate) item_key_file: Option<PathBuf>,
    /// The provider that the proxy sends requests to, such as https://api.openai.com; openai=URL, anthropic=URL and
    /// gemini=URL take only
    /// the requests of that API. Can be given several times
    #[arg(long, value_name = "[KIND=]URL")]
    pub(crate) upstream: Vec<String>,
    /// A host that channels made over HTTP may connect to, such as api.openai.com or localhost:11434, at its usual port, at
    /// the given one, or at any with HOST:*. Write http://HOST for a host without TLS that is not this machine. Can be given
    /// several times; without it no channels are made over HTTP
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) channel_host: Vec<ChannelHost>,
    /// The store of sessions: sqlite:PATH, sqlite::memory:, postgres://USER@HOST/DATABASE, or none [default: an SQLite file
    /// in your data folder, $XDG_DATA_HOME/epitome/epitome.sqlite]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) store: Option<String>,
    /// The environment variable that holds the store's address, where that has a password in it
    #[arg(long, value_name = "NAME", conflicts_with = "store")]
    pub(crate) store_variable: Option<String>,
    /// The log filter: a level, or a list such as info,epitome_server=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub(crate) log: String,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Who counts the requests of a tenant.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RateScopeArg {
    /// All instances on one PostgreSQL store; with another store, each by itself.
    Store,
    /// Each instance by itself.
    Instance,
}

/// What is refused and what is remembered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// The largest body of a request
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) max_body: u32,
    /// The most messages, blocks and calls of one request; an imported file may have four times as many
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub(crate) max_parts: u32,
    /// The most connections at once; idle ones are closed for new ones. The system's limit on open files bounds it too
    #[arg(long, value_name = "N", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections: u32,
    /// The most connections from one address; behind a reverse proxy all connections have one address
    #[arg(long, value_name = "N", default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections_per_address: u32,
    /// The most requests under way at once
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_concurrent: u32,
    /// The most requests of one tenant in a minute; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 1_200)]
    pub(crate) requests_per_minute: u32,
    /// Who counts these: all instances on one PostgreSQL store together, or each instance by itself
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t = RateScopeArg::Store)]
    pub(crate) rate_scope: RateScopeArg,
    /// The most compactions at once; 0 for the number of cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_024))]
    pub(crate) workers: u32,
    /// The longest time for a request to arrive, and for a client to send nothing of it
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) body_timeout: u64,
    /// The longest time for a client to read nothing of its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) write_timeout: u64,
    /// The longest time for a compaction; after it the proxy sends the original request
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) work_timeout: u64,
    /// The longest silence of a provider
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) upstream_timeout: u64,
    /// The most removed text that is kept for retrieval, for each tenant
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pub(crate) archive_size: u32,
    /// The most conversations whose compactions the proxy remembers
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_sessions: u32,
}
