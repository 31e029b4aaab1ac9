//! The arguments of `mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use epitome::formats::Format;

use super::config::ConfigArgs;
use super::input::format_parser;
use super::store::StoreArgs;

#[derive(Debug, Args)]
#[command(
    mut_arg("config", |config| config.help("A configuration file: how large the context is and how it is counted")),
    mut_arg("agent", |agent| agent.help("The agent of the configuration whose settings count")),
)]
pub(crate) struct McpArgs {
    /// The session's file, in any format that is read, while its agent is still writing it; of a folder the session that
    /// asks: by the ids that the client sends, and without these the only one of this working folder
    #[arg(value_name = "FILE|FOLDER", conflicts_with_all = ["url", "kept_in"])]
    pub(crate) file: Option<PathBuf>,
    /// The session that this agent is working on in this folder, in place of a file
    #[arg(long, value_enum, value_name = "AGENT", conflicts_with_all = ["file", "url", "kept_in"])]
    pub(crate) beside: Option<SessionAgent>,
    /// The service through which the agent reaches its provider: where nothing listens there, the client is told so when
    /// it begins
    #[arg(long, value_name = "URL", requires = "beside")]
    pub(crate) needs: Option<String>,
    /// The session: of a file of several its number from 0 or its id; of an agent, a store or a service its id
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// The file's format; recognised from the content without it. The help of `convert` lists all
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true, requires = "file")]
    pub(crate) from: Option<Format>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// A running service, such as `http://127.0.0.1:7777`; without --session the tools take the session's id
    #[arg(long, value_name = "URL", conflicts_with = "kept_in")]
    pub(crate) url: Option<String>,
    /// The environment variable that holds the service's token
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) token_variable: Option<String>,
    /// Serve over HTTP at this address of this machine [default: standard input and output]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
}

/// An agent whose sessions' place is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionAgent {
    /// Claude Code: the session of the project that asks
    ClaudeCode,
    /// Codex: the session that asks
    Codex,
}
