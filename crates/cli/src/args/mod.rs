//! The command line: the subcommands, and in a file each the arguments that several share and those of the larger ones.

mod compact;
mod config;
#[cfg(feature = "eval")]
mod eval;
mod input;
#[cfg(feature = "service")]
mod mcp;
mod output;
mod search;
#[cfg(feature = "service")]
mod serve;
mod session;
mod store;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use compact::{CompactArgs, ModelArgs};
pub(crate) use config::ConfigArgs;
#[cfg(feature = "eval")]
pub(crate) use eval::{EvalArgs, GroupingArg, ReplayArgs, SubjectArg, TuneArgs};
pub(crate) use input::{InputArgs, InputOptions, RecordedSessionArgs, ViewArg};
#[cfg(feature = "service")]
pub(crate) use mcp::McpArgs;
pub(crate) use search::SearchArgs;
#[cfg(feature = "service")]
pub(crate) use serve::{LimitArgs, ServeArgs};
pub(crate) use session::{CheckArgs, ConvertArgs, HistoryArgs, InspectArgs, RestoreArgs};
#[cfg(feature = "service")]
pub(crate) use store::StoreArgs;

/// Fits an agent's session into a token budget.
///
/// A session in any agent's format goes in; one that the provider accepts, at or under the budget, comes out, with a
/// reason for everything that left.
#[derive(Debug, Parser)]
#[command(name = "epitome", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print no report and no warnings, only what was asked for
    #[arg(short, long, global = true, display_order = 1000)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a session into a budget
    Compact(CompactArgs),
    /// Tell whether a session should be compacted
    Check(CheckArgs),
    /// Show what a session is made of
    Inspect(InspectArgs),
    /// Write a session in another format
    Convert(ConvertArgs),
    /// List the compactions of a session, with what each did and what left
    History(HistoryArgs),
    /// Write a session without one of its compactions, or what a handle stands for
    Restore(RestoreArgs),
    /// Find what was said, in the context or out of it, in a session, a folder or a store
    Search(SearchArgs),
    /// List the strategies, or show the page of one
    Strategies(StrategiesArgs),
    /// Hold methods against each other on recorded sessions
    #[cfg(feature = "eval")]
    Eval(EvalArgs),
    /// Replay recorded sessions turn by turn, and tell what they cost
    #[cfg(feature = "eval")]
    Replay(ReplayArgs),
    /// Search for chains and settings that do better than the defaults
    #[cfg(feature = "eval")]
    Tune(TuneArgs),
    /// Run the service: compactions over HTTP, and a proxy in front of a provider
    #[cfg(feature = "service")]
    Serve(ServeArgs),
    /// Serve what was said in a session as tools for its model (Model Context Protocol)
    #[cfg(feature = "service")]
    Mcp(McpArgs),
    /// Write a commented configuration file
    Init(InitArgs),
    /// Write completions for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StrategiesArgs {
    /// The strategy to show
    pub(crate) name: Option<String>,
    /// The configuration file, for the strategies of your own that it names
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where the file goes; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "epitome.toml")]
    pub(crate) output: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the crate of a strategy of your own instead: lower-case words with hyphens, such as my-strategy
    #[arg(long, value_name = "NAME", conflicts_with_all = ["output", "force"])]
    pub(crate) strategy: Option<String>,
    /// The crate's folder [default: the strategy's name]
    #[arg(long, value_name = "DIR", requires = "strategy")]
    pub(crate) dir: Option<PathBuf>,
    /// A checkout of epitome, for the crate to depend on by its path
    #[arg(long, value_name = "PATH", requires = "strategy")]
    pub(crate) epitome: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
