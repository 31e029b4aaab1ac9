//! Where a session goes.

use std::path::PathBuf;

use clap::Args;

/// The file that is written.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// The file to write [default: standard output]; a name that ends in .gz is compressed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Let -o replace the input file even where the result no longer holds all of its text
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
