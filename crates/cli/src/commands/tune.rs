//! `epitome tune`: chains and settings that do better than the defaults, or the word that none does.

use std::process::ExitCode;

use epitome::Registry;
use epitome_eval::Filter;
use epitome_eval::tune::{Bench as _, SessionBench, TuneOptions, split, tune};

use crate::args::TuneArgs;
use crate::commands::measure::{each_once, failure, fewer};
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
    if train.is_empty() || verify.is_empty() {
        let failure = Failure::usage_text("there are no sessions left to search on, or none to verify on");
        return Err(failure.with_help(fewer(&filter)));
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
    let written = advice.toml();
    target.write(written.as_bytes())?;
    if !quiet && matches!(target, Target::File { .. }) {
        terminal::tell(&written);
        output::wrote(&target, "configuration");
    }
    Ok(ExitCode::SUCCESS)
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
