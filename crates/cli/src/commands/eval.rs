//! `epitome eval`: methods against each other on recorded sessions.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use epitome_eval::{
    CaseOptions, Difference, EvalError, Filter, Labels, Metric, Plan, Row, Subject, Summary, differences, methods,
    report, summaries,
};
use serde::Serialize;

use crate::args::{EvalArgs, WhatArg};
use crate::failure::Failure;
use crate::output::Target;
use crate::render::style::{BAD, FAINT, GOOD, STRONG};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{plural, width};
use crate::{Outcome, output};

/// What the differences are held against where nothing else is asked for.
const REFERENCE: &str = "baseline:identifiers";

/// Columns that the figures of a table take with readable names beside them.
const FIGURES: usize = 130;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Printed {
    sessions_read: usize,
    cases: usize,
    summaries: Vec<Summary>,
    differences: Vec<Difference>,
}

pub(crate) fn run(args: &EvalArgs, quiet: bool) -> Outcome {
    let target = |path: &Option<PathBuf>| path.as_deref().map(|path| Target::new(Some(path), None)).transpose();
    let (jsonl, html) = (target(&args.jsonl)?, target(&args.html)?);
    let plan = plan(args)?;
    let pairs = compared(args, &plan)?;
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
    if let Some(target) = &jsonl {
        target.write(&lines(&run.rows)?, None)?;
    }
    if run.cases == 0 {
        let failure = Failure::usage_text(format!("none of {} fits", plural(run.sessions, "session")));
        return Err(failure.with_help("lower --min-tokens, --min-calls and --min-needed, or name other files"));
    }
    let printed = Printed {
        sessions_read: run.sessions,
        cases: run.cases,
        summaries: summaries(&run.rows),
        differences: pairs.iter().flat_map(|(a, b)| differences(&run.rows, a, b, args.seed)).collect(),
    };
    if let Some(target) = &html {
        target.write(report(&run, &printed.differences).as_bytes(), None)?;
    }
    if args.json {
        let mut text = serde_json::to_string_pretty(&printed)?;
        text.push('\n');
        output::standard(text.as_bytes())?;
    } else {
        output::print(&page(&printed))?;
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
    Ok(Plan {
        paths: args.paths.clone(),
        methods: methods(&args.methods, &registry).map_err(failure)?,
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

/// The pairs of methods whose differences are shown.
fn compared(args: &EvalArgs, plan: &Plan) -> Result<Vec<(String, String)>, Failure> {
    let mut known: Vec<&str> = plan.methods.iter().map(|method| method.name()).collect();
    let reference = match args.what {
        WhatArg::Future => REFERENCE,
        WhatArg::Recorded => "recorded",
        WhatArg::Evidence => "baseline:tail",
    };
    let Some(pair) = &args.compare else {
        let ours = known.iter().filter(|name| !name.starts_with("baseline:"));
        return Ok(ours.map(|name| ((*name).to_owned(), reference.to_owned())).collect());
    };
    if args.what == WhatArg::Recorded {
        known.push("recorded");
    }
    let [first, second] = pair.as_slice() else {
        return Err(Failure::usage_text("--compare takes two methods, such as default,baseline:newest"));
    };
    if let Some(unknown) = pair.iter().find(|name| !known.contains(&name.as_str())) {
        let failure = Failure::usage_text(format!("--compare: `{unknown}` is not measured"));
        return Err(failure.with_help(format!("measured are {}", known.join(", "))));
    }
    Ok(vec![(first.clone(), second.clone())])
}

fn lines(rows: &[Row]) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut lines, row)?;
        lines.write_all(b"\n")?;
    }
    Ok(lines)
}

fn figure(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}").trim_start_matches('0').to_owned())
}

fn page(printed: &Printed) -> String {
    let mut text = format!(
        "{STRONG}{}{STRONG:#} {FAINT}from {} read; macro averages, micro in brackets. Upper bounds on what a model will \
         remember, not accuracies.{FAINT:#}\n",
        plural(printed.cases, "case"),
        plural(printed.sessions_read, "session"),
    );
    let mut budgets: Vec<&str> = printed.summaries.iter().map(|summary| summary.budget.as_str()).collect();
    budgets.dedup();
    for budget in budgets {
        text.push_str(&format!("\n{STRONG}budget {budget}{STRONG:#}\n"));
        let rows: Vec<&Summary> = printed.summaries.iter().filter(|summary| summary.budget == budget).collect();
        text.push_str(&table(&rows));
    }
    for difference in printed.differences.chunk_by(|a, b| (&a.method, &a.baseline) == (&b.method, &b.baseline)) {
        text.push_str(&differing(difference));
    }
    text
}

fn table(rows: &[&Summary]) -> String {
    let metrics: Vec<Metric> =
        Metric::ALL.into_iter().filter(|metric| rows.iter().any(|row| row.average(*metric).cases > 0)).collect();
    let mut setting = vec![Column::Flexible];
    setting.extend(vec![Column::Right; metrics.len() + 7]);
    let mut headings = vec!["method"];
    headings.extend(metrics.iter().map(|metric| metric.as_str()));
    headings.extend(["kept", "usable", "over", "invalid", "failed", "unchanged", "ms"]);
    let mut table = Table::new(&setting, &headings);
    for row in rows {
        let mut cells: Vec<Cell> = vec![row.method.clone().into()];
        cells.extend(metrics.iter().map(|metric| {
            let average = row.average(*metric);
            let is_main = matches!(metric, Metric::BoundFrr | Metric::Frr | Metric::Evidence);
            let micro = if is_main { format!(" ({})", figure(average.micro_average)) } else { String::new() };
            Cell::from(figure(average.macro_average) + &micro)
        }));
        cells.push(figure(Some(row.kept_share)).into());
        let usable = f64::from(row.usable) / f64::from(row.cases.max(1));
        let style = if row.usable == row.cases { GOOD } else { BAD };
        cells.push(Cell::styled(format!("{:.0} %", usable * 100.0), style));
        for count in [row.over_budget, row.invalid, row.failed] {
            cells.push(if count == 0 { Cell::from("0") } else { Cell::styled(count.to_string(), BAD) });
        }
        cells.push(figure(Some(row.unchanged_share)).into());
        cells.push(format!("{:.0}", row.milliseconds).into());
        table.row(cells);
    }
    table.render(width().max(FIGURES))
}

fn differing(differences: &[Difference]) -> String {
    let Some(first) = differences.first() else { return String::new() };
    let mut text = format!(
        "\n{STRONG}{} − {}{STRONG:#} {FAINT}paired by session, 95 % interval{FAINT:#}\n",
        first.method, first.baseline
    );
    let setting =
        [Column::Left, Column::Left, Column::Right, Column::Right, Column::Right, Column::Right, Column::Right];
    let mut table = Table::new(&setting, &["budget", "", "difference", "from", "to", "sessions", "more/less"]);
    for difference in differences {
        let style = match (difference.low > 0.0, difference.high < 0.0) {
            (true, _) => GOOD,
            (_, true) => BAD,
            _ => FAINT,
        };
        table.row([
            difference.budget.clone().into(),
            difference.metric.as_str().into(),
            Cell::styled(format!("{:+.3}", difference.mean), style),
            format!("{:+.3}", difference.low).into(),
            format!("{:+.3}", difference.high).into(),
            difference.sessions.to_string().into(),
            format!("{}/{}", difference.wins, difference.losses).into(),
        ]);
    }
    text.push_str(&table.render(width()));
    text
}
