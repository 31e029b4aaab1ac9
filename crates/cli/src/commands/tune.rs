//! `epitome tune`: chains and settings that do better than the defaults, or the verdict that none does.

use std::fmt::Write as _;
use std::process::ExitCode;

use epitome::Registry;
use epitome_eval::tune::{
    Bench as _, KindSessions, LEAST_SESSIONS, SessionBench, TuneOptions, by_kind, split, tune, uncertainty,
};
use epitome_eval::{Filter, figure};

use crate::args::TuneArgs;
use crate::commands::measure::{each_once, failure, fewer, left_out_lines};
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Target};
use crate::render::text::plural;
use crate::terminal;

pub(crate) fn run(args: &TuneArgs, quiet: bool) -> CommandResult {
    let target = Target::new(args.output.as_deref(), None)?;
    let registry = epitome::registry();
    let options = options(args, &registry)?;
    let filter = Filter {
        min_tokens: args.least.min_tokens,
        min_calls: args.least.min_calls,
        min_needed: args.least.min_needed,
        ..Filter::default()
    };
    let mut bench = SessionBench::new(&each_once(&args.budgets, ToString::to_string), epitome::registry());
    let mut train = bench.add(&args.train, &filter).map_err(failure)?;
    let mut verify = bench.add(&args.verify, &filter).map_err(failure)?;
    if args.verify.is_empty() {
        (train, verify) = split(&bench.cases(), args.seed);
    }
    if !quiet {
        terminal::tell(&left_out_lines(bench.left_out(), &filter, args.left_out));
    }
    if let Some(problem) = too_few(&bench, (&train, &verify), &options)? {
        return Err(Failure::usage_text(problem).with_help(fewer(&filter)));
    }
    let mut measured = 0;
    let mut listener = |new: usize| {
        measured += new;
        if !quiet {
            terminal::show_line(&format!("{measured} measured"));
        }
    };
    let advice = tune(&bench, (&train, &verify), &options, &mut listener).map_err(failure)?;
    if !quiet {
        terminal::clear_line();
        terminal::tell(&format!(
            "searched on {}, verified on {}\n",
            plural(train.len(), "session"),
            plural(verify.len(), "session")
        ));
    }
    target.write(advice.toml().as_bytes())?;
    if !quiet {
        advice.sentences().iter().for_each(|sentence| terminal::tell(&format!("{sentence}\n")));
        if matches!(target, Target::File { .. }) {
            output::wrote(&target, "configuration");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Why nothing can be told by these sessions; `None` where a kind of task has enough of them, or all together for settings.
fn too_few(
    bench: &SessionBench,
    (train, verify): (&[usize], &[usize]),
    options: &TuneOptions,
) -> Result<Option<String>, Failure> {
    if train.is_empty() || verify.is_empty() {
        return Ok(Some("there are no sessions left to search on, or none to verify on".to_owned()));
    }
    let kinds = by_kind(&bench.cases(), train, verify);
    let enough_for_settings = !options.settings.is_empty() && train.len().min(verify.len()) >= LEAST_SESSIONS;
    if enough_for_settings || kinds.values().any(KindSessions::is_enough) {
        return Ok(None);
    }
    let given = kinds.iter().map(|(kind, it)| format!("{kind} {} and {}", it.train.len(), it.verify.len()));
    let mut problem = format!(
        "too few sessions: a kind of task needs {LEAST_SESSIONS} to search on and {LEAST_SESSIONS} to verify on, given are {}",
        given.collect::<Vec<_>>().join(", ")
    );
    let all: Vec<usize> = train.iter().chain(verify).copied().collect();
    // The simplest other chain: one strategy.
    let chain = &options.strategies[..options.strategies.len().min(1)];
    if let Some(half) = uncertainty(bench, &all, chain, options.weights, options.seed).map_err(failure)? {
        let half = figure(Some(half));
        let _ = write!(problem, "; a difference over all {} of them is known to ±{half} only", all.len());
    }
    Ok(Some(problem))
}

fn options(args: &TuneArgs, registry: &Registry) -> Result<TuneOptions, Failure> {
    let strategies: Vec<String> = if args.strategies.is_empty() {
        registry
            .iter()
            .map(|known| &known.meta)
            .filter(|meta| !meta.needs.model)
            .map(|meta| meta.id.to_owned())
            .collect()
    } else {
        args.strategies.clone()
    };
    for strategy in &strategies {
        registry.get(strategy).map_err(|error| Failure::usage(error).with_help("`epitome strategies` lists them"))?;
    }
    for setting in &args.settings {
        let field = setting
            .split_once('.')
            .and_then(|(strategy, key)| registry.get(strategy).ok()?.fields.iter().find(|field| field.name == key));
        if field.is_none() {
            let failure = Failure::usage_text(format!("--settings: `{setting}` is not a setting"));
            return Err(failure.with_help("write STRATEGY.KEY; `epitome strategies STRATEGY` lists the keys"));
        }
    }
    let budgets: Vec<String> = each_once(&args.budgets, ToString::to_string).iter().map(ToString::to_string).collect();
    Ok(TuneOptions {
        strategies,
        settings: args.settings.clone(),
        budgets: budgets.join(","),
        weights: args.weights,
        trials: args.trials,
        seed: args.seed,
    })
}
