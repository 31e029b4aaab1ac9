//! What the commands that measure share: their failures, and what helps where nothing is left to measure.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use epitome::config::Prices;
use epitome_eval::{EvalError, Filter, LeftOut, LeftOutReason, LegendLine, Method, left_out_counts, methods};

use crate::args::{CommandArgs, MeasuredModelArgs};
use crate::failure::Failure;
use crate::render::style::{FAINT, STRONG};
use crate::render::text::plural;
use crate::summaries::by_model_alone;

/// The strategy by which a model of the command line is measured.
const SUMMARY: &str = "summary";

/// Returns the methods that `specs` name, the commands, the model of the command line, and the free baselines.
pub(crate) fn measured_methods(
    specs: &[String],
    commands: &CommandArgs,
    model: &MeasuredModelArgs,
) -> Result<Vec<Arc<Method>>, Failure> {
    let mut all = methods(specs, &epitome::registry()).map_err(failure)?;
    let timeout = Duration::from_secs(commands.command_timeout);
    for compactor in &commands.compactors {
        add(&mut all, "--command", Method::command(&compactor.name, &compactor.command, timeout))?;
    }
    let MeasuredModelArgs { service, model_cache } = model;
    match (&service.model_url, &service.model) {
        (Some(url), Some(name)) => {
            let config = by_model_alone(service, url, model_cache.as_deref())?;
            let chain = [SUMMARY.to_owned()];
            let method = Method::configured(name, &config, Some(&chain), &epitome::registry()).map_err(failure)?;
            add(&mut all, "--model", method)?;
        }
        (None, Some(_)) => {
            let failure = Failure::usage_text("--model: at which service is not said");
            return Err(failure.with_help("add its address, such as --model-url http://localhost:11434/v1"));
        }
        (_, None) => {}
    }
    Ok(all)
}

/// Adds a method that `option` describes in front of the baselines.
fn add(all: &mut Vec<Arc<Method>>, option: &str, method: Method) -> Result<(), Failure> {
    if all.iter().any(|known| known.name() == method.name()) {
        let twice = format!("{option} {}: another method has this name", method.name());
        return Err(Failure::usage_text(twice).with_help("give it a name of its own"));
    }
    let behind_others = all.iter().position(|method| method.name().starts_with("baseline:")).unwrap_or(all.len());
    all.insert(behind_others, Arc::new(method));
    Ok(())
}

/// Returns the prices: those of `file` over the shipped ones.
pub(crate) fn prices(file: Option<&Path>) -> Result<Prices, Failure> {
    let Some(path) = file else { return Prices::shipped().map_err(|error| failure(error.into())) };
    let name = path.display().to_string();
    let text = epitome_shelf::read_plain_text(path);
    let text = text.map_err(|error| failure(EvalError::Read { file: name.clone(), error }))?;
    Prices::with(&text, &name).map_err(|error| failure(error.into()))
}

/// Why there is nothing to measure.
pub(crate) fn none_fits(sessions: usize, paths: &[PathBuf], left_out: &BTreeSet<LeftOut>) -> Failure {
    let counts = left_out_counts(left_out, true);
    let reasons: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {}", reason.words())).collect();
    Failure::usage_text(match sessions {
        0 => {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("there is no session in {}", names.join(", "))
        }
        sessions if reasons.is_empty() => format!("none of {} fits", plural(sessions, "session")),
        sessions => format!("none of {} fits: {}", plural(sessions, "session"), reasons.join("; ")),
    })
}

/// How many files and sessions were left out and why, a line for each reason with the option that decides it; with
/// `with_names` each of them too. Empty where nothing was left out.
pub(crate) fn left_out_lines(left_out: &BTreeSet<LeftOut>, filter: &Filter, with_names: bool) -> String {
    let mut text = String::new();
    for (whole, which) in [(true, "left out"), (false, "left out of sessions that are measured")] {
        let counts = left_out_counts(left_out, whole);
        if counts.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{STRONG}{which}{STRONG:#}{FAINT}, with the option that decides it:{FAINT:#}");
        for (reason, count) in counts {
            let option = option(reason, filter).map_or(String::new(), |option| format!(" {FAINT}({option}){FAINT:#}"));
            let _ = writeln!(text, "  {count:>4}  {}{option}", reason.words());
            let of_reason = left_out.iter().filter(|it| with_names && it.is_whole() == whole && it.reason == reason);
            for it in of_reason {
                let detail = if it.detail.is_empty() { String::new() } else { format!(": {}", it.detail) };
                let _ = writeln!(text, "        {}{FAINT}{detail}{FAINT:#}", it.name());
            }
        }
    }
    if !left_out.is_empty() && !with_names {
        let _ = writeln!(text, "  {FAINT}--left-out names them{FAINT:#}");
    }
    text
}

/// The option that leaves something out for this reason, with its value.
fn option(reason: LeftOutReason, filter: &Filter) -> Option<String> {
    Some(match reason {
        LeftOutReason::FewTokens => format!("--min-tokens {}", filter.min_tokens),
        LeftOutReason::FewCalls => format!("--min-calls {}", filter.min_calls),
        LeftOutReason::FewNeeded => format!("--min-needed {}", filter.min_needed),
        LeftOutReason::OtherFormat => format!("--format {}", filter.format.as_deref()?),
        LeftOutReason::OtherName => format!("--only {}", filter.only.as_deref()?),
        LeftOutReason::OtherTask => format!("--task {}", filter.task?),
        LeftOutReason::FitsBudget => "--budgets".to_owned(),
        LeftOutReason::NoCut => "--cut".to_owned(),
        LeftOutReason::NotDrawn => "--sample".to_owned(),
        LeftOutReason::Unreadable | LeftOutReason::Copy | LeftOutReason::NoRecordedSummary => return None,
    })
}

/// The legend of a table: a line for each column, with its direction; then what the arrows are, and where more is said.
pub(crate) fn legend_lines(lines: &[LegendLine]) -> String {
    let width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for LegendLine { name, better, said } in lines {
        let _ = writeln!(text, "  {FAINT}{name:<width$} {} {said}{FAINT:#}", better.arrow());
    }
    text
}

/// What the arrows of legends are, and where columns are explained.
pub(crate) const ARROWS: &str =
    "↑ higher is better, ↓ lower is better; docs/evaluation.md defines each, and the page of --html";

/// The advice where a filter leaves no session: the options that exclude some.
pub(crate) fn fewer(filter: &Filter) -> String {
    let options = [
        ("--min-tokens", filter.min_tokens > 0),
        ("--min-calls", filter.min_calls > 0),
        ("--min-needed", filter.min_needed > 0),
        ("--task", filter.task.is_some()),
        ("--format", filter.format.is_some()),
        ("--only", filter.only.is_some()),
    ];
    let set: Vec<&str> = options.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
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
        EvalError::Prices(_) => Failure::usage(error).with_help("docs/evaluation.md shows a price table"),
        EvalError::Probes { .. } => Failure::usage(error).with_help("docs/evaluation.md says how probes are written"),
        EvalError::Model { .. } => Failure::other(error)
            .with_help("check the address, the key and the name: the model is asked once before anything is measured"),
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
