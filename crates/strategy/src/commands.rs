//! The commands of shell calls: what they run, how they ended, and their lasting results.

mod outcome;
mod results;
mod script;

pub use outcome::{exit_code, first_error, is_failure, outcome, telling_line};
pub use results::results;
pub use script::{first_command, is_looking, is_search, script_of};
