//! `epitome tune`: chains and settings that do better than the defaults.

use crate::args::TuneArgs;
use crate::failure::Failure;
use crate::Outcome;

pub(crate) fn run(_args: &TuneArgs, _quiet: bool) -> Outcome {
    Err(Failure::usage_text("not there yet"))
}
