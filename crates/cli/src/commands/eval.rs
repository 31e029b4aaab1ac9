//! `epitome eval`: methods against each other on recorded sessions.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use epitome_eval::{Group, Grouping, Row, accounts, answers, groups, report};

use crate::args::{EvalArgs, GroupingArg, SubjectArg};
use crate::commands::measure::{failure, fewer, left_out_lines, none_fits, prices};
use crate::failure::CommandResult;
use crate::output::Target;
use crate::terminal;

mod compared;
mod output;
mod page;
mod plan;
mod rows;

use compared::compared;
use output::EvalOutput;
use page::page;
pub(crate) use page::sheet;
use plan::plan;
use rows::RowsFile;

pub(crate) fn run(args: &EvalArgs, quiet: bool) -> CommandResult {
    let html = args.html.as_deref().map(|path| Target::new(Some(path), None)).transpose()?;
    let prices = prices(args.prices.as_deref())?;
    let plan = plan(args)?;
    let (pairs, every) = compared(args, &plan)?;
    let file = Mutex::new(args.jsonl.as_deref().map(RowsFile::new).transpose()?);
    let progress = |done: usize, of: usize, rows: &[Row]| {
        let Ok(mut file) = file.lock() else { return };
        if rows.is_empty() && !quiet {
            terminal::progress(done, of);
        }
        if let Some(file) = file.as_mut() {
            file.append(rows);
        }
    };
    let run = plan.run(&progress).map_err(failure)?;
    if run.cases == 0 {
        let failure = none_fits(run.sessions, &args.paths, &run.left_out);
        // Probed sessions have no calls behind a cut and no needed strings.
        let mut filter = plan.filter.clone();
        if args.what == SubjectArg::Probes {
            (filter.min_tokens, filter.min_calls, filter.min_needed) = (0, 0, 0);
        }
        if args.left_out {
            terminal::tell(&left_out_lines(&run.left_out, &filter, true));
        }
        return Err(failure.with_help(fewer(&filter)));
    }
    if let Some(file) = file.into_inner().unwrap_or_else(PoisonError::into_inner) {
        file.finish(&run.rows)?;
    }
    if let Some(target) = &html {
        target.write(report(&run, &every, args.seed).as_bytes())?;
    }
    let by = args.by.map(|by| match by {
        GroupingArg::Kind => Grouping::Kind,
        GroupingArg::Format => Grouping::Format,
        GroupingArg::Repository => Grouping::Repository,
    });
    let groups = by.map(|by| groups(&run.rows, by, &every, args.seed)).unwrap_or_default();
    let all = Group::new("all", &run.rows, &pairs, args.seed);
    let printed = EvalOutput {
        answers: &answers(&run.rows, &pairs, args.seed),
        sessions_read: run.sessions,
        sessions_measured: run.measured(),
        cases: run.cases,
        left_out: &run.left_out,
        summaries: &all.summaries,
        differences: &all.differences,
        accounts: &accounts(&run.rows, &prices),
        groups,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&printed)?;
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else {
        terminal::print(&page(&printed, &all, &plan.filter, args.left_out))?;
    }
    Ok(ExitCode::SUCCESS)
}
