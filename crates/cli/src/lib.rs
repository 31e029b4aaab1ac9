//! The `epitome` command: the only place that prints.
//!
//! `args` declares the command line, `commands` has one file for each subcommand, `render` draws tables, bars and
//! reports, `chain` says why a chain was taken. `session` finds, reads and rewrites sessions in files, `window` is how much
//! room a session's messages have, with a snapshot of it while it grows. `output` is the file out, `replace` puts a file in
//! place of another, `emit` makes bytes of sessions. `configuration` is read and built there, `counter`
//! counts with it. `setup` changes the files of agents, `folders` are the person's. `terminal` is all that is printed,
//! `failure` what goes wrong and the exit code it has.

mod args;
mod chain;
mod commands;
mod composition;
mod configuration;
mod context_output;
mod emit;
mod failure;
#[cfg(feature = "service")]
mod folders;
mod memories;
mod output;
mod paths;
mod render;
mod replace;
mod session;
#[cfg(feature = "service")]
mod setup;
#[cfg(feature = "service")]
mod store;
mod summaries;
mod terminal;
mod window;

use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;

use crate::args::{Cli, Command};

/// Runs the command line of this process; returns its exit code.
pub fn run() -> ExitCode {
    let parsed = args::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too.
            terminal::show_parsed(&error);
            if cfg!(not(feature = "full")) && error.kind() == ErrorKind::InvalidSubcommand {
                terminal::tell("this build has a part of the commands; the feature `full` of epitome-cli has all\n");
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let quiet = cli.quiet;
    let result = match cli.command {
        Command::Compact(args) => commands::compact::run(&args, quiet),
        Command::Check(args) => commands::check::run(&args, quiet),
        Command::Count(args) => commands::count::run(&args),
        Command::Context(args) => commands::context::run(&args, quiet),
        Command::Watch(args) => commands::watch::run(&args, quiet),
        Command::Inspect(args) => commands::inspect::run(&args, quiet),
        Command::Convert(args) => commands::convert::run(&args, quiet),
        #[cfg(feature = "service")]
        Command::Move(args) => commands::moving::run(args, quiet),
        Command::History(args) => commands::history::run(&args, quiet),
        Command::Restore(args) => commands::restore::run(&args, quiet),
        Command::Search(args) => commands::search::run(&args, quiet),
        Command::Strategies(args) => commands::strategies::run(&args),
        #[cfg(feature = "eval")]
        Command::Bench(args) => commands::bench::run(&args, quiet),
        #[cfg(feature = "eval")]
        Command::Eval(args) => commands::eval::run(&args, quiet),
        #[cfg(feature = "eval")]
        Command::Replay(args) => commands::replay::run(&args, quiet),
        #[cfg(feature = "eval")]
        Command::Tune(args) => commands::tune::run(&args, quiet),
        #[cfg(feature = "service")]
        Command::Serve(args) => commands::serve::run(&args, quiet),
        #[cfg(feature = "service")]
        Command::Mcp(args) => commands::mcp::run(&args, quiet),
        #[cfg(feature = "service")]
        Command::Brief(args) => commands::brief::run(&args, quiet),
        #[cfg(feature = "service")]
        Command::Fit(args) => commands::fit::run(&args),
        #[cfg(feature = "service")]
        Command::Setup(args) => commands::setup::run(&args, quiet),
        #[cfg(feature = "service")]
        Command::Hook(args) => commands::hook::run(&args),
        #[cfg(feature = "service")]
        Command::Statusline => commands::statusline::run(),
        Command::Init(args) => commands::init::run(&args, quiet),
        Command::Completions(args) => commands::completions::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
