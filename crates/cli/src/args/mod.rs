//! The command line: the subcommands, and in a file each the arguments that several share and those of the larger ones.
//! `help` lists the commands in groups, `examples` has the lines below each help, `values` reads what options take.

#[cfg(feature = "service")]
mod brief;
mod compact;
mod config;
mod context;
#[cfg(feature = "eval")]
mod eval;
mod examples;
#[cfg(feature = "service")]
mod fit;
mod help;
mod input;
#[cfg(feature = "service")]
mod mcp;
mod output;
mod search;
#[cfg(feature = "service")]
mod serve;
mod session;
#[cfg(feature = "service")]
mod setup;
mod store;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[cfg(feature = "service")]
pub(crate) use brief::BriefArgs;
pub(crate) use compact::{CompactArgs, ServiceArgs};
pub(crate) use config::ConfigArgs;
pub(crate) use context::{AgentSessionArgs, ContextArgs, WatchArgs, WindowArgs};
#[cfg(feature = "eval")]
pub(crate) use eval::{
    BenchArgs, CommandArgs, EvalArgs, GroupingArg, MeasuredModelArgs, ReplayArgs, SubjectArg, TuneArgs,
};
#[cfg(feature = "service")]
pub(crate) use fit::FitArgs;
pub(crate) use help::command;
pub(crate) use input::{InputArgs, RecordedSessionArgs, ViewArg};
#[cfg(feature = "service")]
pub(crate) use mcp::{McpArgs, SessionAgent};
pub(crate) use search::SearchArgs;
#[cfg(feature = "service")]
pub(crate) use serve::{LimitArgs, RateScopeArg, ServeArgs};
#[cfg(feature = "service")]
pub(crate) use session::MoveArgs;
pub(crate) use session::{CheckArgs, ConvertArgs, CountArgs, HistoryArgs, InspectArgs, RestoreArgs};
#[cfg(feature = "service")]
pub(crate) use setup::{HookAgent, HookArgs, HookEvent, SetupArgs};
#[cfg(feature = "service")]
pub(crate) use store::StoreArgs;

/// Fits an agent's session into a token budget.
///
/// A session in any agent's format goes in; one that the provider accepts, at or under the budget, comes out, with a
/// reason for everything that left.
#[derive(Debug, Parser)]
#[command(name = "epitome", version, arg_required_else_help = true)]
#[command(after_help = examples::ALL)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print no report and no warnings, only the result
    #[arg(short, long, global = true, display_order = 1000)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a session into a budget
    #[command(after_help = examples::COMPACT)]
    Compact(CompactArgs),
    /// Compare a session with the thresholds: should it be compacted?
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Count the tokens of a text or of a list of messages
    #[command(hide = true, after_help = examples::COUNT)]
    Count(CountArgs),
    /// Show what fills a session's context, what would leave it next, and what has left
    #[command(after_help = examples::CONTEXT)]
    Context(ContextArgs),
    /// Follow a running agent's session: how full its context is, and what fills it
    #[command(after_help = examples::WATCH)]
    Watch(WatchArgs),
    /// Show the content of a session by role, tool and round
    #[command(after_help = examples::INSPECT)]
    Inspect(InspectArgs),
    /// Write a session in another format
    #[command(after_help = examples::CONVERT)]
    Convert(ConvertArgs),
    /// Go on with a session in another agent
    ///
    /// The session is compacted, and written as a new file where the agent looks for its sessions. Standard output has the line
    /// that resumes it. The session's own file is not touched.
    #[cfg(feature = "service")]
    #[command(after_help = examples::MOVE)]
    Move(MoveArgs),
    /// List the compactions of a session, with what each did and what left
    #[command(after_help = examples::HISTORY)]
    History(HistoryArgs),
    /// Undo one compaction of a session, or print the text removed under a handle
    #[command(after_help = examples::RESTORE)]
    Restore(RestoreArgs),
    /// Search the text of a session or a folder, in the context and removed from it
    #[command(after_help = examples::SEARCH)]
    Search(SearchArgs),
    /// List the strategies, or show the page of one
    #[command(after_help = examples::STRATEGIES)]
    Strategies(StrategiesArgs),
    /// Compare methods of compaction on recorded sessions
    #[cfg(feature = "eval")]
    #[command(after_help = examples::EVAL)]
    Eval(EvalArgs),
    /// Measure everything on the repository's sessions: facts, demands, forgery, strings, validity, price
    #[cfg(feature = "eval")]
    #[command(after_help = examples::BENCH)]
    Bench(BenchArgs),
    /// Replay recorded sessions turn by turn, and report their cost
    #[cfg(feature = "eval")]
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArgs),
    /// Search for chains and settings that do better than the defaults
    #[cfg(feature = "eval")]
    #[command(after_help = examples::TUNE)]
    Tune(TuneArgs),
    /// Run the service: compactions over HTTP, and a proxy in front of a provider
    #[cfg(feature = "service")]
    #[command(after_help = examples::SERVE)]
    Serve(ServeArgs),
    /// Give a session's model tools to search its own past (Model Context Protocol)
    #[cfg(feature = "service")]
    #[command(after_help = examples::MCP)]
    Mcp(McpArgs),
    /// Write what matters of a session as one text
    #[cfg(feature = "service")]
    #[command(after_help = examples::BRIEF)]
    Brief(BriefArgs),
    /// Fit lists of messages for a program in any language, which asks line by line
    #[cfg(feature = "service")]
    #[command(after_help = examples::FIT)]
    Fit(FitArgs),
    /// Make an agent work with this program, or take that back
    #[cfg(feature = "service")]
    #[command(after_help = examples::SETUP)]
    Setup(SetupArgs),
    /// Answer an agent's hook; the plug-ins of `setup` call this
    ///
    /// What the agent says is read on standard input, as JSON. A failure is exit code 1: the agent continues without the answer.
    #[cfg(feature = "service")]
    #[command(after_help = examples::HOOK)]
    Hook(HookArgs),
    /// Print a line of what an agent's context holds; its status line calls this
    ///
    /// What the agent says is read on standard input, as JSON: `transcript_path`, and `context_window` where it is known.
    #[cfg(feature = "service")]
    #[command(after_help = examples::STATUSLINE)]
    Statusline,
    /// Write a commented configuration file
    #[command(after_help = examples::INIT)]
    Init(InitArgs),
    /// Write completions for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StrategiesArgs {
    /// The strategy to show
    pub(crate) name: Option<String>,
    /// The configuration file; its own strategies are listed too
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "epitome.toml")]
    pub(crate) output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the crate of a new strategy instead, under this name: lower-case words with hyphens, such as my-strategy
    #[arg(long, value_name = "NAME", conflicts_with_all = ["output", "force"])]
    pub(crate) strategy: Option<String>,
    /// The crate's folder [default: the strategy's name]
    #[arg(long, value_name = "DIR", requires = "strategy")]
    pub(crate) dir: Option<PathBuf>,
    /// Where the crate has epitome from: the folder of a checkout, or the address of a git repository. Required with --strategy,
    /// for no version of epitome is published
    #[arg(long, value_name = "WHERE", requires = "strategy")]
    pub(crate) epitome: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
