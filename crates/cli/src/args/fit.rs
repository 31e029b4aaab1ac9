//! The arguments of `fit`.

use clap::Args;

use super::config::ConfigArgs;

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Speak JSON lines on standard input and output, until the input ends
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
}
