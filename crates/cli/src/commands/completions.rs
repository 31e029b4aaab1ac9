//! `epitome completions`: completions for a shell.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::Outcome;
use crate::args::{Cli, CompletionsArgs};
use crate::output;

pub(crate) fn run(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "epitome", &mut script);
    output::standard(&script)?;
    Ok(ExitCode::SUCCESS)
}
