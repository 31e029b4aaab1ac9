//! Problems that show only in combination, or against the registered strategies.

use epitome_engine::{Mode, Threshold};
use epitome_strategy::{Registry, SettingsTable, nearest};

use crate::channels;
use crate::config::Config;
use crate::embeddings;
use crate::error::{FileLocation, Problem, suggestion};
use crate::external::{self, COMMAND};
use crate::lexicon;
use crate::named::AgentTable;
use crate::source::Source;
use crate::thresholds::describe;

/// Every problem of `config` beyond types and bounds of single values, those of its agents included.
pub(crate) fn check(config: &Config, registry: &Registry) -> Vec<Problem> {
    let mut problems = of_one(config, registry);
    problems.extend(agents(config, registry, &problems));
    problems
}

/// The same without the agents.
pub(crate) fn of_one(config: &Config, registry: &Registry) -> Vec<Problem> {
    let mut problems = budget(config);
    problems.extend(channels::problems(config));
    problems.extend(select(config));
    problems.extend(embeddings::unread(config));
    problems.extend(lexicon::problems(config));
    problems.extend(external::check(config, registry));
    let registry = &config.registry(registry);
    problems.extend(chains(config, registry));
    problems.extend(strategies(config, registry));
    problems
}

/// The problems of agents: those of one agent's configuration that the one for all does not have.
fn agents(config: &Config, registry: &Registry, known: &[Problem]) -> Vec<Problem> {
    config.agents().flat_map(|name| problems_of_agent(config, name, registry, known)).collect()
}

/// The same of one agent; `known` are the problems of the configuration for all.
pub(crate) fn problems_of_agent(config: &Config, name: &str, registry: &Registry, known: &[Problem]) -> Vec<Problem> {
    let Ok(agent) = config.for_agent(name) else { return Vec::new() };
    let its_own = |mut problem: Problem| {
        problem.message = format!("agent `{name}`: {}", problem.message);
        let key = format!("agents.{name}");
        let is_its_own = |place: &FileLocation| {
            AgentTable::FIELDS
                .iter()
                .any(|field| config.sources.place(&format!("{key}.{}", field.name)).as_ref() == Some(place))
        };
        if !problem.place.as_ref().is_some_and(is_its_own) {
            problem.place = config.sources.place(&key);
        }
        problem
    };
    let problems = of_one(&agent, registry).into_iter();
    problems.filter(|problem| !known.contains(problem)).map(its_own).collect()
}

fn budget(config: &Config) -> Vec<Problem> {
    if let Err(unknown) = config.model_limits() {
        let problem = Problem::new(config.sources.place("budget.model"), unknown.to_string());
        // The file's window for all does not hold for an agent that runs on another model.
        let help = match config.agent() {
            Some(_) => unknown.help,
            None => format!("{}; or set `[budget] window`", unknown.help),
        };
        return vec![problem.with_help(help)];
    }
    let budget = config.budget();
    let usable = budget.usable();
    // The place of the key that is most likely the wrong one: the first of these that the file sets.
    let place = |keys: [&str; 2]| keys.iter().find_map(|key| config.sources.place(&format!("budget.{key}")));
    if usable == 0 {
        let message = format!("the reserve of {} takes the whole window of {}", budget.reserve_output, budget.window);
        let problem = Problem::new(place(["reserve_output", "window"]), message);
        return vec![problem.with_help("lower `reserve_output` or raise `window`")];
    }
    if budget.soft == Threshold::NEVER {
        return Vec::new();
    }
    let (target, soft, hard) = (("target", budget.target), ("soft", budget.soft), ("hard", budget.hard));
    let mut problems = Vec::new();
    for ((lower, low), (upper, high)) in [(target, soft), (soft, hard)] {
        let (low_tokens, high_tokens) = (low.tokens(usable), high.tokens(usable));
        if low_tokens > high_tokens || low_tokens == high_tokens && upper == "soft" {
            let message =
                format!("`{lower}` ({}) is not below `{upper}` ({})", describe(low, usable), describe(high, usable));
            problems.push(Problem::new(place([lower, upper]), message).with_help("target < soft <= hard"));
        }
    }
    if budget.hard.tokens(usable) > usable {
        // A hard threshold that nobody set follows the soft one.
        let above = if config.sources.get("budget.hard") == Source::Default { "soft" } else { "hard" };
        let message = format!(
            "`{above}` ({}) is above the {usable} tokens of the `window` of {} that are usable",
            describe(budget.hard, usable),
            budget.window
        );
        let problem = Problem::new(place([above, "window"]), message);
        problems.push(problem.with_help("lower it, lower `reserve_output` or raise `window`"));
    }
    problems
}

fn select(config: &Config) -> Vec<Problem> {
    let (mode, chain) = (config.tables.select.mode, config.tables.select.chain.as_str());
    let names = || config.chains.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let place = || config.sources.place("select.chain").or_else(|| config.sources.place("select.mode"));
    if mode != Mode::Fixed && !chain.is_empty() {
        let problem = Problem::new(place(), "`chain` is read with `mode = \"fixed\"` only");
        return vec![problem.with_help("set the mode, or leave the key out")];
    }
    if mode == Mode::Fixed && chain.is_empty() {
        let problem = Problem::new(place(), "`mode = \"fixed\"` needs `chain`, the name of a chain");
        return vec![problem.with_help(format!("there are {}", names()))];
    }
    if mode == Mode::Fixed && !config.chains.contains_key(chain) {
        let problem = Problem::new(place(), format!("there is no chain `{chain}`"));
        return vec![problem.with_help(format!("[chains] has {}", names()))];
    }
    Vec::new()
}

fn chains(config: &Config, registry: &Registry) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in config.chains.keys() {
        let chain = config.chain(name).unwrap_or_default();
        let key = format!("chains.{name}");
        if registry.get(name).is_ok() {
            let problem = Problem::new(config.sources.place(&key), format!("a chain cannot be called `{name}`"));
            problems.push(problem.with_help("that is a strategy"));
        }
        if chain.is_empty() {
            let problem = Problem::new(config.sources.place(&key), format!("the chain `{name}` is empty"));
            problems.push(problem.with_help("a chain takes at least one strategy"));
        }
        for (index, id) in chain.iter().enumerate() {
            let place = || config.sources.place_of_item(&key, index);
            if registry.get(id).is_err() {
                problems.push(unknown_strategy(id, registry).at(place()));
            } else if chain[..index].contains(id) {
                let problem = Problem::new(place(), format!("`{id}` is in the chain `{name}` twice"));
                problems.push(problem.with_help("the engine asks a strategy again by itself while that helps"));
            }
        }
    }
    problems
}

fn strategies(config: &Config, registry: &Registry) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (id, values) in &config.strategies {
        let Ok(registration) = registry.get(id) else {
            // A preset may set what a host's registry does not have; a file may not.
            if let Some(place) = config.sources.place(&format!("strategies.{id}")) {
                let mut problem = unknown_strategy(id, registry).at(Some(place));
                if nearest(id, registry.iter().map(|known| known.meta.id)).is_none() {
                    let help = problem.help.take().unwrap_or_default();
                    problem.help = Some(format!("{help}; a program of yours takes a `{COMMAND}`"));
                }
                problems.push(problem);
            }
            continue;
        };
        let Err(errors) = registration.build(values) else { continue };
        for error in errors {
            let key = format!("strategies.{id}.{}", error.name);
            let known = registration.fields.iter().map(|field| field.name);
            let mut problem = Problem::new(config.sources.place(&key), format!("`{}` {}", error.name, error.problem));
            if error.name == COMMAND && known.clone().all(|name| name != COMMAND) {
                problem.message = format!("`{id}` ships with epitome and takes no `{COMMAND}`");
                problem.help = Some("a program of yours takes an id of its own".to_owned());
            } else if known.clone().all(|name| name != error.name) {
                problem.message = format!("`{}` is not a setting of `{id}`", error.name);
                problem.help = Some(suggestion(&error.name, known.clone(), || match registration.fields.is_empty() {
                    true => "it has none: take the line out".to_owned(),
                    false => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
                }));
            }
            problems.push(problem);
        }
    }
    problems
}

/// The problem of an id that no strategy has, with the one that was probably meant.
pub fn unknown_strategy(id: &str, registry: &Registry) -> Problem {
    let is_left_out = cfg!(not(feature = "clustering")) && id == "semantic-clustering";
    let help = match is_left_out {
        true => "this build is without the feature `clustering`".to_owned(),
        false => suggestion(id, registry.iter().map(|it| it.meta.id), || "`epitome strategies` lists them".to_owned()),
    };
    Problem::new(None, format!("there is no strategy `{id}`")).with_help(help)
}

impl Problem {
    fn at(mut self, place: Option<FileLocation>) -> Self {
        self.place = place;
        self
    }
}
