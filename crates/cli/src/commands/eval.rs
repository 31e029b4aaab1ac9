//! `epitome eval`: methods against each other on recorded sessions.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use epitome_eval::{
    Baseline, CaseOptions, Difference, EvalError, Filter, Group, Grouping, Labels, MethodOptions, Plan, Resumed, Row,
    Subject, Summary, groups, markdown, methods, report,
};
use serde::Serialize;

use crate::args::{ByArg, EvalArgs, WhatArg};
use crate::failure::Failure;
use crate::output::Target;
use crate::render::text::plural;
use crate::{Outcome, output};

mod page;
mod rows;

/// What the differences are held against where nothing else is asked for.
const REFERENCE: &str = "baseline:identifiers";
/// The budgets where none are named.
const BUDGETS: [&str; 3] = ["0.4", "0.2", "0.1"];
/// The kind of task of a session without a label.
const UNLABELLED: &str = "unlabelled";

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Printed {
    sessions_read: usize,
    cases: usize,
    summaries: Vec<Summary>,
    differences: Vec<Difference>,
    /// The same for each kind of task or each format, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Group>,
    /// What became of the rows of an earlier run, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<Resumed>,
}

pub(crate) fn run(args: &EvalArgs, quiet: bool) -> Outcome {
    let target = |path: &Option<PathBuf>| path.as_deref().map(|path| Target::new(Some(path), None)).transpose();
    let (jsonl, html) = (target(&args.jsonl)?, target(&args.html)?);
    let plan = plan(args, quiet)?;
    let (pairs, every) = compared(args, &plan)?;
    let log = Mutex::new(rows::Log::new(args.jsonl.as_deref()));
    let progress = |done: usize, of: usize, rows: &[Row]| {
        let Ok(mut log) = log.lock() else { return };
        if rows.is_empty() && !quiet {
            output::progress(done, of);
        }
        log.append(rows);
    };
    let run = plan.run(&progress).map_err(failure)?;
    drop(log);
    let resumed = args.resume.then_some(run.resumed);
    if let Some(resumed) = resumed.filter(|_| !quiet) {
        output::tell(&format!("{resumed}\n"));
    }
    let are_labelled = run.rows.iter().any(|row| row.task != UNLABELLED);
    if run.cases == 0 {
        let failure = Failure::usage_text(format!("none of {} fits", plural(run.sessions, "session")));
        return Err(failure.with_help(fewer(&filters(args))));
    }
    if (args.labels.is_some() || args.by == Some(ByArg::Kind)) && !are_labelled && !quiet {
        output::tell(if plan.labels.is_empty() {
            "there are no kinds of task: --labels names a table of them\n"
        } else {
            "none of the files stands in the table of labels\n"
        });
    }
    if let Some(target) = &jsonl {
        target.write(&rows::joined(&run.rows, &plan.known)?)?;
    }
    if let Some(target) = &html {
        target.write(report(&run, &every, args.seed).as_bytes())?;
    }
    let by = args.by.map(|by| match by {
        ByArg::Kind => Grouping::Kind,
        ByArg::Format => Grouping::Format,
    });
    let groups = by.map(|by| groups(&run.rows, by, &every, args.seed)).unwrap_or_default();
    if args.markdown {
        let all = Group::of("all", &run.rows, &every, args.seed);
        let groups: Vec<Group> = std::iter::once(all).chain(groups).collect();
        output::standard(markdown(&groups).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = Group::of("all", &run.rows, &pairs, args.seed);
    let printed = Printed {
        sessions_read: run.sessions,
        cases: run.cases,
        summaries: all.summaries,
        differences: all.differences,
        groups,
        resumed,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&printed)?;
        text.push('\n');
        output::standard(text.as_bytes())?;
    } else {
        output::print(&page::page(&printed))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What keeps sessions out of a run.
fn filters(args: &EvalArgs) -> Vec<(&'static str, bool)> {
    // Chats have no calls and no needed strings.
    let is_cut = args.what != WhatArg::Evidence;
    vec![
        ("--min-tokens", is_cut && args.min_tokens > 0),
        ("--min-calls", is_cut && args.min_calls > 0),
        ("--min-needed", is_cut && args.min_needed > 0),
        ("--task", is_cut && args.task.is_some()),
        ("--format", args.format.is_some()),
        ("--only", args.only.is_some()),
    ]
}

/// What to do where filters leave nothing; each with whether it keeps anything out.
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
        EvalError::Method(_) => Failure::usage(error).with_help("`epitome strategies` lists strategies and chains"),
        EvalError::Config(_) => Failure::usage(error).with_help("docs/configuration.md lists every setting"),
        EvalError::Prices { .. } => Failure::usage(error).with_help("docs/evaluation.md shows a price table"),
        EvalError::Patterns(_) => Failure::other(error),
    }
}

fn plan(args: &EvalArgs, quiet: bool) -> Result<Plan, Failure> {
    let budgets = each_once(&args.budgets, ToString::to_string);
    if args.what == WhatArg::Recorded && budgets.iter().map(ToString::to_string).ne(BUDGETS.map(str::to_owned)) {
        let failure = Failure::usage_text("--budgets: beside recorded summaries the budget is the size of each");
        return Err(failure.with_help("leave it out"));
    }
    let registry = epitome::registry();
    let commands = args.command.iter().map(|command| format!("command:{command}"));
    let named: Vec<String> = args.methods.iter().cloned().chain(commands).collect();
    let options = MethodOptions { command_timeout: args.command_timeout };
    // Before anything is measured, and rows are written of it.
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        let missing = format!("cannot read {}: there is no such file or folder", missing.display());
        return Err(Failure::usage_text(missing).with_help("check the path"));
    }
    Ok(Plan {
        paths: args.paths.clone(),
        methods: methods(&named, &options, &registry).map_err(failure)?,
        budgets,
        cuts: each_once(&args.cut, |cut| (cut * 1000.0).round())
            .iter()
            .map(|cut| CaseOptions { cut: *cut, with_reasoning: args.reasoning })
            .collect(),
        filter: Filter {
            min_tokens: args.min_tokens,
            min_calls: args.min_calls,
            min_needed: args.min_needed,
            task: args.task.map(|kind| kind.as_str().to_owned()),
            format: args.format.map(|format| format.as_str().to_owned()),
            only: args.only.clone(),
        },
        labels: labels(args)?,
        sample: args.sample,
        seed: args.seed,
        known: rows::known(args, quiet)?,
        subject: match args.what {
            WhatArg::Future => Subject::Future,
            WhatArg::Recorded => Subject::Recorded,
            WhatArg::Evidence => Subject::Evidence { questions: args.questions },
        },
    })
}

/// The labels asked for, or those of the first manifest in the folders or any above them.
fn labels(args: &EvalArgs) -> Result<Labels, Failure> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", path.display())))
        })
    };
    if let Some(path) = &args.labels {
        return Ok(Labels::parse(&read(path)?));
    }
    // A manifest without labels is about something else.
    for path in args.paths.iter().filter_map(|path| path.canonicalize().ok()) {
        for manifest in path.ancestors().map(|folder| folder.join("MANIFEST.md")).filter(|path| path.is_file()) {
            let labels = Labels::parse(&read(&manifest)?);
            if !labels.is_empty() {
                return Ok(labels);
            }
        }
    }
    Ok(Labels::default())
}

/// Pairs of methods.
type Pairs = Vec<(String, String)>;

/// The pairs of methods whose differences are shown: in the short tables, and where there is room for every baseline.
fn compared(args: &EvalArgs, plan: &Plan) -> Result<(Pairs, Pairs), Failure> {
    let mut known: Vec<&str> = plan.methods.iter().map(|method| method.name()).collect();
    if args.what == WhatArg::Recorded {
        known.push("recorded");
    }
    let ours = |name: &&str| !name.starts_with("baseline:") && *name != "recorded" && !name.ends_with(" +question");
    let asked: Vec<String> = match args.what {
        WhatArg::Evidence if args.questions > 0 => {
            let focused = plan.methods.iter().filter(|method| method.takes_focus());
            focused.map(|method| format!("{} +question", method.name())).collect()
        }
        _ => Vec::new(),
    };
    known.extend(asked.iter().map(String::as_str));
    if let Some(asked) = &args.compare {
        if known.contains(&asked.as_str()) {
            let others = known.into_iter().filter(|name| *name != asked);
            let pairs: Pairs = others.map(|other| (other.to_owned(), asked.clone())).collect();
            return Ok((pairs.clone(), pairs));
        }
        let pair = pair(asked, &known)?;
        return Ok((vec![pair.clone()], vec![pair]));
    }
    let reference = match args.what {
        WhatArg::Future => REFERENCE,
        WhatArg::Recorded => "recorded",
        WhatArg::Evidence => "baseline:tail",
    };
    let mut against = vec![reference.to_owned()];
    let baselines = Baseline::ALL.iter().map(|baseline| format!("baseline:{}", baseline.as_str()));
    against.extend(baselines.filter(|name| name != reference));
    let ours: Vec<&str> = known.into_iter().filter(ours).collect();
    let pairs = |against: &[String]| -> Pairs {
        let of = |ours: &str| against.iter().map(|theirs| (ours.to_owned(), theirs.clone())).collect::<Pairs>();
        ours.iter().flat_map(|ours| of(ours)).collect()
    };
    Ok((pairs(&against[..1]), pairs(&against)))
}

/// The two methods that `asked` names. A command may hold commas itself: the one between two methods that are measured
/// counts.
fn pair(asked: &str, known: &[&str]) -> Result<(String, String), Failure> {
    let splits: Vec<(&str, &str)> =
        asked.match_indices(',').map(|(at, comma)| (asked[..at].trim(), asked[at + comma.len()..].trim())).collect();
    let is_known = |name: &str| known.contains(&name);
    if let Some((first, second)) = splits.iter().find(|(first, second)| is_known(first) && is_known(second)) {
        return Ok(((*first).to_owned(), (*second).to_owned()));
    }
    let Some((first, second)) = splits.first() else {
        let failure = Failure::usage_text(format!("--compare: `{asked}` is not measured"));
        return Err(failure.with_help("name one method, or two such as default,baseline:newest"));
    };
    let unknown = if is_known(first) { second } else { first };
    let failure = Failure::usage_text(format!("--compare: `{unknown}` is not measured"));
    Err(failure.with_help(format!("measured are {}", known.join(", "))))
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
