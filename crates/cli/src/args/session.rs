//! The arguments of the other commands that read one session.

use std::path::PathBuf;

use clap::Args;
use epitome::formats::Format;

use super::context::WindowArgs;
use super::input::{InputArgs, RecordedSessionArgs, format_parser};
use super::output::OutputArgs;
use super::values::message;

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
