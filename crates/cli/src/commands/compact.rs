//! `epitome compact`: fits a session into a budget.
//!
//! `job` is all that the arguments and the configuration say, complete before a session is read; `one` compacts a session and
//! writes it while its file may grow. `outcome` is what a result means for the caller.

mod job;
mod one;
mod outcome;

use std::process::ExitCode;

use epitome::{Report, Status};
#[cfg(feature = "service")]
use epitome::{Session, formats::LoadedFile};

use self::job::Job;
use self::outcome::{NEAR_EMPTY, refused, warn_of_lost_parts};
use crate::args::CompactArgs;
use crate::failure::CommandResult;
#[cfg(feature = "service")]
use crate::failure::Failure;
use crate::render::report;
use crate::render::text::width;
use crate::terminal;

/// Compacts one session of a file as `compact` would, for a caller that writes it in another place (`is_written`) or only shows it; tells its
/// report. An exit code in place of the session where it was refused.
#[cfg(feature = "service")]
pub(super) fn compact_one(
    args: &CompactArgs,
    loaded: &LoadedFile,
    index: usize,
    is_written: bool,
    quiet: bool,
) -> Result<Result<Session, ExitCode>, Failure> {
    let job = Job::new(args, quiet)?;
    let done = job.compact(loaded, index)?;
    terminal::tell(&done.page);
    if let Some((code, why)) = refused(&done.report) {
        terminal::note(&format!("{why}: the session was not written"));
        return Ok(Err(ExitCode::from(code)));
    }
    if is_written && done.report.status.is_compaction() {
        job.memories.flush(&done.session, &job.runtime)?;
    }
    tell_what_is_lost(&done.report, quiet);
    Ok(Ok(done.session))
}

/// Tells where much of a session is lost.
fn tell_what_is_lost(report: &Report, quiet: bool) {
    match report.status {
        Status::Compacted if !quiet => warn_of_lost_parts(report),
        Status::NearEmpty => {
            terminal::note("almost nothing of the task and the work on it is left: a larger budget keeps more")
        }
        _ => {}
    }
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
    tell_what_is_lost(&done.report, quiet);
    if done.report.status == Status::NearEmpty {
        return Ok(ExitCode::from(NEAR_EMPTY));
    }
    let Some((code, why)) = refused else { return Ok(ExitCode::SUCCESS) };
    if quiet {
        terminal::note(&format!("{why}: the session was not written"));
    }
    Ok(ExitCode::from(code))
}
