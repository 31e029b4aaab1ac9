//! `epitome completions`: completions for a shell.

use std::process::ExitCode;

use crate::args::{CompletionsArgs, command};
use crate::failure::CommandResult;
use crate::terminal;

pub(crate) fn run(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "epitome", &mut script);
    terminal::standard(&script)?;
    Ok(ExitCode::SUCCESS)
}
