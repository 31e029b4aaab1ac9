//! The arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use epitome_server::ChannelHost;

use super::config::ConfigArgs;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where it listens; port 0 takes a free one. Other addresses than this machine's own need a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7777")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
    /// The environment variable with the token that callers have to send
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub(crate) token_variable: Option<String>,
    /// A file with a line `tenant token` for each token that callers may send
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The provider that requests are sent on to, such as https://api.openai.com; openai=URL and anthropic=URL are for
    /// requests of these. Can be given several times
    #[arg(long, value_name = "[KIND=]URL")]
    pub(crate) upstream: Vec<String>,
    /// A host that channels given over HTTP may lead to, such as api.openai.com or localhost:11434; the usual ports only, or
    /// the one that is given, or all of them as HOST:*. http://HOST for one without TLS that is not this machine. Can be
    /// given several times; without any there are no such channels
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) channel_host: Vec<ChannelHost>,
    /// Where sessions are kept: sqlite:PATH, sqlite::memory:, postgres://USER@HOST/DATABASE, or none [default: an SQLite file
    /// in your data folder, $XDG_DATA_HOME/epitome/epitome.sqlite]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) store: Option<String>,
    /// The environment variable with that address, where it holds a password
    #[arg(long, value_name = "NAME", conflicts_with = "store")]
    pub(crate) store_variable: Option<String>,
    /// What is logged: a level, or a list such as info,epitome_server=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub(crate) log: String,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What is refused and what is remembered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// The largest body of a request
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) max_body: u32,
    /// Messages, blocks and calls of one request; a file that is imported may have four times as many
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub(crate) max_parts: u32,
    /// Connections at once; idle ones make room for others. No more than the system's limit on open files allows
    #[arg(long, value_name = "N", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections: u32,
    /// Connections of one address; behind a proxy all of them are
    #[arg(long, value_name = "N", default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections_per_address: u32,
    /// Requests under way at once
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_concurrent: u32,
    /// Requests of one tenant in a minute; 0 for any number
    #[arg(long, value_name = "N", default_value_t = 1_200)]
    pub(crate) requests_per_minute: u32,
    /// Compactions at once; 0 for the number of cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_024))]
    pub(crate) workers: u32,
    /// How long a request may take to arrive, and how long a client may send nothing of it
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) body_timeout: u64,
    /// How long a client may take nothing of its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) write_timeout: u64,
    /// How long a compaction may take; the proxy sends the original then
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) work_timeout: u64,
    /// How long a provider may say nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) upstream_timeout: u64,
    /// What left a context and can be retrieved, for each tenant
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pub(crate) archive_size: u32,
    /// Conversations of which the proxy remembers what it decided
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_sessions: u32,
}
