//! `epitome eval`: methods against each other on recorded sessions.

use std::fs::File;
use std::io::Write as _;
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

/// What the differences are held against where nothing else is asked for.
const REFERENCE: &str = "baseline:identifiers";

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
    let plan = plan(args)?;
    let (pairs, every) = compared(args, &plan)?;
    let log = Mutex::new(log(args, &plan.known)?);
    let progress = |done: usize, of: usize, rows: &[Row]| {
        let Ok(mut log) = log.lock() else { return };
        if rows.is_empty() && !quiet {
            output::progress(done, of);
        }
        if let Some(file) = log.as_mut() {
            // The file is written whole in the end, where a failure is told.
            let _ = lines(rows).map(|lines| file.write_all(&lines));
        }
    };
    let run = plan.run(&progress).map_err(failure)?;
    drop(log);
    let resumed = args.resume.then_some(run.resumed);
    if let Some(resumed) = resumed.filter(|_| !quiet) {
        output::tell(&format!("{resumed}\n"));
    }
    if let Some(target) = &jsonl {
        target.write(&lines(&run.rows)?, None)?;
    }
    if run.cases == 0 {
        let failure = Failure::usage_text(format!("none of {} fits", plural(run.sessions, "session")));
        return Err(failure.with_help("lower --min-tokens, --min-calls and --min-needed, or name other files"));
    }
    if let Some(target) = &html {
        target.write(report(&run, &every, args.seed).as_bytes(), None)?;
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

/// The file that rows go to while the run lasts, with those of the earlier run in it.
fn log(args: &EvalArgs, known: &[Row]) -> Result<Option<File>, Failure> {
    let plain = |path: &&PathBuf| !crate::input::is_standard(path) && path.extension().is_none_or(|it| it != "gz");
    let Some(path) = args.jsonl.as_ref().filter(plain) else { return Ok(None) };
    let mut file = File::create(path).map_err(|error| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    })?;
    file.write_all(&lines(known)?)?;
    Ok(Some(file))
}

/// The rows of an earlier run. A last line that an interrupt cut off is measured again.
fn known(args: &EvalArgs) -> Result<Vec<Row>, Failure> {
    let Some(path) = args.jsonl.as_ref().filter(|path| args.resume && path.is_file()) else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", path.display())))
    })?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

pub(crate) fn failure(error: EvalError) -> Failure {
    match error {
        EvalError::Read { .. } => Failure::usage(error).with_help("check the path"),
        EvalError::Method(_) => Failure::usage(error).with_help("`epitome strategies` lists strategies and chains"),
        EvalError::Prices { .. } => Failure::usage(error).with_help("docs/evaluation.md shows a price table"),
        EvalError::Patterns(_) => Failure::other(error),
    }
}

fn plan(args: &EvalArgs) -> Result<Plan, Failure> {
    let registry = epitome::registry();
    let commands = args.command.iter().map(|command| format!("command:{command}"));
    let named: Vec<String> = args.methods.iter().cloned().chain(commands).collect();
    let options = MethodOptions { command_timeout: args.command_timeout };
    Ok(Plan {
        paths: args.paths.clone(),
        methods: methods(&named, &options, &registry).map_err(failure)?,
        budgets: args.budgets.clone(),
        cuts: args.cut.iter().map(|cut| CaseOptions { cut: *cut, with_reasoning: args.reasoning }).collect(),
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
        known: known(args)?,
        subject: match args.what {
            WhatArg::Future => Subject::Future,
            WhatArg::Recorded => Subject::Recorded,
            WhatArg::Evidence => Subject::Evidence { questions: args.questions },
        },
    })
}

/// The labels asked for, or those of a manifest in or beside the first folder.
fn labels(args: &EvalArgs) -> Result<Labels, Failure> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", path.display())))
        })
    };
    if let Some(path) = &args.labels {
        return Ok(Labels::parse(&read(path)?));
    }
    let beside = |path: &PathBuf| [path.join("MANIFEST.md"), path.join("../MANIFEST.md")];
    let manifest = args.paths.iter().flat_map(beside).find(|path| path.is_file());
    Ok(manifest.map(|path| read(&path)).transpose()?.map(|text| Labels::parse(&text)).unwrap_or_default())
}

/// Pairs of methods.
type Pairs = Vec<(String, String)>;

/// The pairs of methods whose differences are shown: in the short tables, and where there is room for every baseline.
fn compared(args: &EvalArgs, plan: &Plan) -> Result<(Pairs, Pairs), Failure> {
    let mut known: Vec<&str> = plan.methods.iter().map(|method| method.name()).collect();
    if args.what == WhatArg::Recorded {
        known.push("recorded");
    }
    let ours = |name: &&str| !name.starts_with("baseline:") && *name != "recorded";
    if let Some(asked) = &args.compare {
        if known.contains(&asked.as_str()) {
            let others = known.into_iter().filter(|name| *name != asked).filter(ours);
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

fn lines(rows: &[Row]) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut lines, row)?;
        lines.write_all(b"\n")?;
    }
    Ok(lines)
}
