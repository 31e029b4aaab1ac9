//! `epitome eval`: methods against each other on recorded sessions.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use epitome_eval::probes::Agreement;
use epitome_eval::{
    Difference, EvalError, Generation, Group, Grouping, Row, RowReuse, Summary, groups, markdown, report,
};
use serde::Serialize;

use crate::args::{EvalArgs, GroupingArg, SubjectArg};
use crate::failure::{CommandResult, Failure};
use crate::output::Target;
use crate::render::text::plural;
use crate::terminal;

mod blind;
mod compared;
mod page;
mod plan;
mod rows;

use compared::{Pairs, compared, pair};
use plan::plan;

/// The kind of task of a session without a label.
const UNLABELLED: &str = "unlabelled";

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct EvalOutput {
    sessions_read: usize,
    cases: usize,
    summaries: Vec<Summary>,
    differences: Vec<Difference>,
    /// Figures after several compactions beside one, where these were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    generations: Vec<Generation>,
    /// The same for each task type or each format, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Group>,
    /// The agreement of graders, where answers were graded.
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement: Option<Agreement>,
    /// The use of rows from an earlier run, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<RowReuse>,
}

pub(crate) fn run(args: &EvalArgs, quiet: bool) -> CommandResult {
    if blind::is_asked(args) {
        return blind::run(args, || plan(args, quiet), quiet);
    }
    let target = |path: &Option<PathBuf>| path.as_deref().map(|path| Target::new(Some(path), None)).transpose();
    let (jsonl, html) = (target(&args.jsonl)?, target(&args.html)?);
    let plan = plan(args, quiet)?;
    let (pairs, every) = compared(args, &plan)?;
    let log = Mutex::new(rows::Log::new(args.jsonl.as_deref()));
    let progress = |done: usize, of: usize, rows: &[Row]| {
        let Ok(mut log) = log.lock() else { return };
        if rows.is_empty() && !quiet {
            terminal::progress(done, of);
        }
        log.append(rows);
    };
    let run = plan.run(&progress).map_err(failure)?;
    drop(log);
    let resumed = args.resume.then_some(run.resumed);
    if let Some(resumed) = resumed.filter(|_| !quiet) {
        terminal::tell(&format!("{resumed}\n"));
    }
    let are_labelled = run.rows.iter().any(|row| row.task != UNLABELLED);
    if run.cases == 0 {
        let failure = none_fits(run.sessions, &args.paths);
        return Err(failure.with_help(fewer(&filters(args))));
    }
    // For probes the table may tell repositories only.
    let wants_kinds = args.by == Some(GroupingArg::Kind) || (args.labels.is_some() && args.what != SubjectArg::Probes);
    if wants_kinds && !are_labelled && !quiet {
        terminal::tell(if plan.labels.is_empty() {
            "there are no kinds of task: --labels names a table of them\n"
        } else {
            "none of the files stands in the table of labels\n"
        });
    }
    if let Some(target) = &jsonl {
        target.write(&rows::join_rows(&run.rows, &plan.known)?)?;
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
    if args.markdown {
        let all = Group::new("all", &run.rows, &every, args.seed);
        let groups: Vec<Group> = std::iter::once(all).chain(groups).collect();
        terminal::standard(markdown(&groups).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = Group::new("all", &run.rows, &pairs, args.seed);
    let printed = EvalOutput {
        sessions_read: run.sessions,
        cases: run.cases,
        summaries: all.summaries,
        differences: all.differences,
        generations: all.generations,
        groups,
        agreement: None,
        resumed,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&printed)?;
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else {
        terminal::print(&page::page(&printed))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The filters of the sessions of a run.
fn filters(args: &EvalArgs) -> Vec<(&'static str, bool)> {
    // Chats and probed sessions have no calls behind a cut and no needed strings.
    let is_cut = matches!(args.what, SubjectArg::Future | SubjectArg::Recorded);
    vec![
        ("--min-tokens", is_cut && args.least.min_tokens > 0),
        ("--min-calls", is_cut && args.least.min_calls > 0),
        ("--min-needed", is_cut && args.least.min_needed > 0),
        ("--task", args.what != SubjectArg::Evidence && args.task.is_some()),
        ("--format", args.filter.format.is_some()),
        ("--only", args.filter.only.is_some()),
    ]
}

/// Why there is nothing to measure.
pub(crate) fn none_fits(sessions: usize, paths: &[PathBuf]) -> Failure {
    Failure::usage_text(match sessions {
        0 => {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("there is no session in {}", names.join(", "))
        }
        sessions => format!("none of {} fits", plural(sessions, "session")),
    })
}

/// The advice where filters leave no session; each filter with whether it excludes any.
pub(crate) fn fewer(filters: &[(&str, bool)]) -> String {
    let set: Vec<&str> = filters.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
    let (least, others): (Vec<&str>, Vec<&str>) = set.into_iter().partition(|name| name.starts_with("--min"));
    let mut help = Vec::new();
    if !least.is_empty() {
        help.push(format!("lower {}", least.join(", ")));
    }
    if !others.is_empty() {
        help.push(format!("leave out {}", others.join(", ")));
    }
    help.push("name other files".to_owned());
    help.join(", or ")
}

pub(crate) fn failure(error: EvalError) -> Failure {
    match error {
        EvalError::Read { .. } => Failure::usage(error).with_help("check the path"),
        // Where the next step is in the words, it is not told twice.
        EvalError::Method(ref words) if words.contains("did you mean") || words.contains("`epitome strategies`") => {
            Failure::usage(error)
        }
        EvalError::Method(_) => Failure::usage(error).with_help("`epitome strategies` lists strategies and chains"),
        EvalError::Config(_) => Failure::usage(error).with_help("docs/configuration.md lists every setting"),
        EvalError::Prices { .. } => Failure::usage(error).with_help("docs/evaluation.md shows a price table"),
        EvalError::Probes { .. } => Failure::usage(error).with_help("docs/evaluation.md says how probes are written"),
        EvalError::Lake { .. } => Failure::usage(error),
        EvalError::Patterns(_) => Failure::other(error),
    }
}

/// The values in their order, each once.
pub(crate) fn each_once<T: Clone, K: PartialEq>(values: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for value in values {
        if found.iter().all(|other| key(other) != key(value)) {
            found.push(value.clone());
        }
    }
    found
}
