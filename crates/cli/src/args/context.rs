//! The arguments of `context` and `watch`.

use std::path::PathBuf;

use clap::Args;
use epitome::formats::Format;

use super::config::ConfigArgs;
use super::input::format_parser;
use super::values::tokens;

/// A session that an agent may still be writing.
#[derive(Debug, Args)]
pub(crate) struct AgentSessionArgs {
    /// The session: its file; a folder, for the session in it that was changed last; an agent (claude-code, codex, pi,
    /// gemini-cli, qwen-code, copilot-cli), for its newest; or an id of 8 characters or more, or the beginning of one [default:
    /// the newest session of any agent]
    #[arg(value_name = "FILE|FOLDER|AGENT|ID")]
    pub(crate) place: Option<PathBuf>,
    /// One session of a file of several: its number from 0, or its id
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// The file's format; recognised from the content without it. The help of `convert` lists all
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) from: Option<Format>,
}

/// How much room the session's messages have.
#[derive(Debug, Default, Args)]
pub(crate) struct WindowArgs {
    /// Tokens that the messages may take, such as 32000 or 32k [default: the window less the answer's reserve]
    #[arg(short, long, value_name = "TOKENS", value_parser = tokens, allow_hyphen_values = true,
          conflicts_with_all = ["window", "model"])]
    pub(crate) budget: Option<u32>,
    /// The model's context window, such as 200000 or 200k [default: the configuration's, else that of the model that the
    /// session names, else 200000]
    #[arg(long, value_name = "TOKENS", value_parser = tokens, allow_hyphen_values = true)]
    pub(crate) window: Option<u32>,
    /// The model of the session, in place of the one that the session names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    pub(crate) session: AgentSessionArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) session: AgentSessionArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Show the session as it is now, and end
    #[arg(long)]
    pub(crate) once: bool,
    /// Print a line of JSON for each change
    #[arg(long)]
    pub(crate) json: bool,
}
