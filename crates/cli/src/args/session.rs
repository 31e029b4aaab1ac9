//! The arguments of the other commands that read one session.

use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "service")]
use epitome::engine::Threshold;
use epitome::formats::Format;

#[cfg(feature = "service")]
use super::config::ConfigArgs;
#[cfg(feature = "service")]
use super::context::AgentSessionArgs;
use super::context::WindowArgs;
use super::input::{InputArgs, RecordedSessionArgs, format_parser};
use super::output::OutputArgs;
use super::values::message;
#[cfg(feature = "service")]
use super::values::tokens_or_share;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_writable))]
    pub(crate) to: Format,
    #[command(flatten)]
    pub(crate) target: OutputArgs,
}

/// Arguments of `epitome move`.
#[cfg(feature = "service")]
#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    #[command(flatten)]
    pub(crate) session: AgentSessionArgs,
    /// The agent that continues it
    #[arg(long, value_name = "AGENT", value_parser = format_parser(|format| format.is_writable() && format.wire().is_none()))]
    pub(crate) to: Format,
    /// Tokens that the messages may take there, such as 32000 or 32k, or a share of what they take now, such as 30% or 0.3; without
    /// it, the target and the hard threshold of --config, else those of a window of 200,000
    #[arg(short, long, value_name = "TOKENS", value_parser = tokens_or_share, allow_hyphen_values = true)]
    pub(crate) budget: Option<Threshold>,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
    /// The project's folder [default: the session's own where that is there, else the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Write nothing: say what would be written, and where
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The file to write [default: one where the agent looks for its sessions]
    #[arg(short, long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Refuse a session of which something cannot be carried, and a file with damaged lines
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) kept: RecordedSessionArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    mut_arg("file", |file| {
        file.help(
            "The session's file: for --handle any that is read; to undo a compaction one that epitome keeps a session in, or \
             one of an agent that records its compactions (Claude Code, Codex, Pi); `-` is standard input",
        )
    }),
    mut_arg("output", |output| {
        output.help("The file to write [default: standard output]; a name that ends in .gz is compressed")
    }),
)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    pub(crate) kept: RecordedSessionArgs,
    /// The compaction to undo, by its number in the history [default: the newest in force]
    #[arg(long, value_name = "N", conflicts_with = "handle")]
    pub(crate) epoch: Option<u32>,
    /// Write only the text or the messages that left under this handle, as reports, marks, summaries and search results
    /// name it; or the message of this number, such as 37 or '#37'
    #[arg(long, value_name = "HANDLE|N")]
    pub(crate) handle: Option<String>,
    /// The message that what left under the handle begins at, such as 153 or '#153', as the report names it: finds it in a
    /// session that is too long to be searched without
    #[arg(long, value_name = "N", requires = "handle", value_parser = message)]
    pub(crate) at: Option<u32>,
    /// The format to write. Without it a session is written in the format of its file where that can be written, else as
    /// openai-chat; the messages under a handle as openai-chat; a text under a handle as it was
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_writable))]
    pub(crate) to: Option<Format>,
    #[command(flatten)]
    pub(crate) target: OutputArgs,
}

/// Arguments of `epitome count`.
#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    /// A session in any format, or a text; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// The counter or estimator, such as o200k_base or weighted [default: that of the configuration]
    #[arg(long, value_name = "NAME")]
    pub(crate) counter: Option<String>,
}
