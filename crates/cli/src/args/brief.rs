//! The arguments of `brief`.

use std::path::PathBuf;

use clap::Args;

use super::input::RecordedSessionArgs;
use super::values::tokens;

#[derive(Debug, Args)]
#[command(mut_arg("file", |file| file.help("The session's file, plain or gzipped; `-` is standard input")))]
pub(crate) struct BriefArgs {
    #[command(flatten)]
    pub(crate) kept: RecordedSessionArgs,
    /// The most tokens of the text, such as 4000 or 4k. Where what was typed has no room, a warning says what is not there
    #[arg(long, value_name = "TOKENS", value_parser = tokens, default_value = "8k")]
    pub(crate) tokens: u32,
    /// The configuration file, for the strategies and the counter
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
