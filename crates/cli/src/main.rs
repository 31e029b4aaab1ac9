//! The `epitome` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    epitome_cli::run()
}
