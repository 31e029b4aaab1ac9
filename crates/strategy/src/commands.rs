//! The commands of shell calls: what they run, how they ended, and their lasting results.

mod action;
mod checks;
mod endings;
mod moves;
mod outcome;
mod results;
mod script;
mod shell;

pub use action::{Action, action, is_looking, is_prefix};
pub use checks::{check_key, is_check};
pub use endings::{is_failure, is_success, verdict};
pub use moves::{FileMove, file_moves, patch_moves};
pub use outcome::{exit_code, first_error, first_exit_code, has_failed, outcome};
pub use results::{LastingResults, is_diff_total};
pub use script::{first_command, is_search, script_in, script_of};
pub use shell::simple_commands;
