//! `epitome compact`: fits a session into a budget.
//!
//! `job` is all that the arguments and the configuration say, complete before a session is read; `one` compacts a session and
//! writes it while its file may grow. `outcome` is what a result means for who called.

mod job;
mod one;
mod outcome;

use std::process::ExitCode;

use epitome::Status;
#[cfg(feature = "service")]
use epitome::{Session, formats::LoadedFile};

use self::job::Job;
use self::outcome::{HOLLOW, refused, warn_of_lost_parts};
use crate::args::CompactArgs;
use crate::failure::CommandResult;
#[cfg(feature = "service")]
use crate::failure::Failure;
use crate::render::report;
use crate::render::text::width;
use crate::terminal;

/// Compacts one session of a file as `compact` would, and writes nothing; tells its report. An exit code in place of the session
/// where it was refused.
#[cfg(feature = "service")]
pub(super) fn compact_one(
    args: &CompactArgs,
    loaded: &LoadedFile,
    index: usize,
    quiet: bool,
) -> Result<Result<Session, ExitCode>, Failure> {
    let job = Job::new(args, quiet)?;
    let done = job.compact(loaded, index)?;
    terminal::tell(&done.page);
    if let Some((code, why)) = refused(&done.report) {
        terminal::note(&format!("{why}: the session was not written"));
        return Ok(Err(ExitCode::from(code)));
    }
    if !quiet && done.report.status.is_compaction() {
        warn_of_lost_parts(&done.report);
    }
    Ok(Ok(done.session))
}

pub(crate) fn run(args: &CompactArgs, quiet: bool) -> CommandResult {
    let job = Job::new(args, quiet)?;
    let mut done = job.compact_and_write()?;
    let refused = refused(&done.report);
    job.write_report(&done.report, !args.preview && refused.is_none())?;
    if !done.page.is_empty() && done.report.status.is_compaction() {
        done.page.push_str(&report::timings(&done.report.timings, width()));
    }
    terminal::tell(&done.page);
    if !quiet && done.report.status == Status::Compacted {
        warn_of_lost_parts(&done.report);
    }
    if done.report.status == Status::Hollow {
        terminal::note("next to nothing is left of what was asked for and worked on: a larger budget keeps some of it");
        return Ok(ExitCode::from(HOLLOW));
    }
    let Some((code, why)) = refused else { return Ok(ExitCode::SUCCESS) };
    if quiet {
        terminal::note(&format!("{why}: the session was not written"));
    }
    Ok(ExitCode::from(code))
}
