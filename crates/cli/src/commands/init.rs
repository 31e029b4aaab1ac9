//! `epitome init`: a commented configuration file.

use std::process::ExitCode;

use crate::args::InitArgs;
use crate::failure::{CommandResult, Failure};
use crate::output::{Target, wrote};
use crate::render::style::STRONG;
use crate::terminal::tell;

pub(crate) fn run(args: &InitArgs, quiet: bool) -> CommandResult {
    let target = Target::new(Some(&args.output), None)?;
    if let Target::File { path, .. } = &target
        && path.exists()
        && !args.force
    {
        let failure = Failure::usage_text(format!("{} is there already", path.display()));
        return Err(failure.with_help("name another file with -o, or replace it with --force"));
    }
    target.write(epitome::config::template(&epitome::registry()).as_bytes())?;
    if let (Target::File { path, .. }, false) = (&target, quiet) {
        wrote(&target, "every key with its default and what it does");
        tell(&format!("use it with {STRONG}--config {}{STRONG:#}\n", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}
