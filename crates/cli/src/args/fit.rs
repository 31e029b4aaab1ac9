//! The arguments of `fit`.

use clap::Args;

use super::config::ConfigArgs;

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Speak JSON lines on standard input and output, until the input ends
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
    /// Work for an agent's plug-in: use the person's own epitome.toml, and keep what was decided for when this runs again
    #[arg(long, conflicts_with = "config")]
    pub(crate) plugin: bool,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
}
