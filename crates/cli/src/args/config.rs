//! Which configuration counts, and whose settings in it.

use std::path::PathBuf;

use clap::Args;

/// The configuration file, and the agent of it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The agent whose settings are used: one of the configuration's [agents]; needs --config
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}
