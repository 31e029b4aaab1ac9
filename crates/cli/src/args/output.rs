//! Where a session goes.

use std::path::PathBuf;

use clap::Args;

/// The file that is written.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Where the session goes [default: standard output]; a name that ends in .gz is compressed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Allow -o to replace the input by what no longer holds all of it
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
