//! All sessions of a file.

use std::process::ExitCode;
use std::time::Instant;

use epitome::Status;
use serde_json::json;

use super::job::{Job, microseconds};
use super::outcome::{HOLLOW, ROLLED_BACK};
use crate::failure::{CommandResult, INFEASIBLE};
use crate::render::report;
use crate::render::table::{Column, Table};
use crate::render::text::width;
use crate::session::in_place::InPlaceOutcome;
use crate::session::input;
use crate::session::retry::busy;
use crate::{emit, terminal};

/// Compacts every session, each to the budget. Those that cannot fit are left out, said so, and exit 3; those that were
/// rolled back exit 1, as do hollow ones, which are written.
pub(super) fn compact_all(job: &Job<'_>) -> CommandResult {
    let target = &job.target;
    let profile = emit::profile_of_lines(job.args.to)?;
    let file = &job.args.input.file;
    let (bytes, original) = input::bytes_for(file, target)?;
    let reading = Instant::now();
    let loaded = &input::load_bytes(bytes, &job.args.input, job.quiet)?;
    let read_us = Some(microseconds(reading));
    let mut written = Vec::new();
    let mut reports = Vec::new();
    let setting = [Column::Flexible, Column::Left, Column::Right, Column::Right, Column::Right, Column::Left];
    let mut table = Table::new(&setting, &["session", "", "before", "after", "edits", "task"]);
    let (mut infeasible, mut rolled_back, mut hollow) = (0, 0, 0);
    for (index, source) in loaded.sessions.iter().enumerate() {
        let mut done = job.compact(loaded, index)?;
        done.report.timings.read_us = read_us;
        if !job.quiet {
            terminal::progress(index + 1, loaded.sessions.len());
        }
        table.row(report::line(&done.report, &source.name));
        hollow += usize::from(done.report.status == Status::Hollow);
        if done.report.status == Status::Infeasible {
            infeasible += 1;
        } else if done.report.status == Status::RolledBack {
            rolled_back += 1;
        } else if !job.args.preview {
            if done.report.status.is_compaction() {
                done.report.flushed_memories = job.memories.flush(&done.session, &job.runtime)?;
            }
            emit::line(&mut written, loaded, index, &done.session, profile, job.quiet)?;
        }
        reports.push(json!({ "session": source.name, "report": done.report }));
    }
    let is_written = !job.args.preview && !written.is_empty();
    if is_written {
        let taken = target.take(&written, &loaded.bytes, original.as_ref(), job.args.target.force)?;
        if taken == InPlaceOutcome::Changed {
            return Err(busy(file));
        }
    }
    job.write_report(&reports, is_written)?;
    if !job.quiet && !job.args.json {
        terminal::tell(&table.render(width()));
    }
    if rolled_back > 0 {
        let of = loaded.sessions.len();
        terminal::note(&format!("{rolled_back} of {of} sessions would have lost too much and were left out"));
    }
    if hollow > 0 {
        let of = loaded.sessions.len();
        terminal::note(&format!(
            "of {hollow} of {of} sessions next to nothing is left of what was asked for and worked on"
        ));
    }
    if infeasible == 0 {
        return Ok(match (rolled_back, hollow) {
            (0, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(HOLLOW),
            _ => ExitCode::from(ROLLED_BACK),
        });
    }
    terminal::note(&format!("{infeasible} of {} sessions cannot fit and were left out", loaded.sessions.len()));
    Ok(ExitCode::from(INFEASIBLE))
}
