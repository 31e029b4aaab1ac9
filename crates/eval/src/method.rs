//! What is measured: chains, presets and configurations of this engine, and baselines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use epitome::config::Preset;
use epitome::engine::{Chain, Engine, Mode, block_on};
use epitome::session::Entry;
use epitome::{Config, MemoryArchive, Registry, Request, Runtime, Status};

use crate::EvalError;
use crate::baselines::Baseline;
use crate::case::Case;

/// How long an outside method may take for one case.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A way to compact.
#[derive(Debug)]
pub struct Method {
    name: String,
    how: How,
}

#[derive(Debug)]
enum How {
    Engine(Box<EngineMethod>),
    Baseline(Baseline),
    Outside(String),
}

/// This engine under a configuration.
#[derive(Debug)]
struct EngineMethod {
    engine: Engine,
    mode: Mode,
    chain: Option<Chain>,
}

/// What a method made of a case.
#[derive(Debug)]
pub struct Outcome {
    /// The compacted view; `None` where there is none.
    pub entries: Option<Vec<Entry>>,
    /// Why there is none.
    pub problem: Option<String>,
    /// How long it took, in microseconds: counting, planning, writing.
    pub micros: u64,
}

impl Method {
    /// The method that `spec` names: `default`, `tournament`, a preset, a chain of the default configuration, a strategy,
    /// `chain:a+b+c`, `config:FILE`, `baseline:newest|tail|cleared|identifiers`, or `command:…` for an outside one. The error says what would be right.
    pub fn parse(spec: &str, registry: &Registry) -> Result<Self, EvalError> {
        let how = match spec.split_once(':') {
            Some(("baseline", name)) => How::Baseline(Baseline::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = Baseline::ALL.iter().map(|baseline| baseline.as_str()).collect();
                EvalError::Method(format!("`{name}` is no baseline; there are {}", known.join(", ")))
            })?),
            Some(("command", command)) => How::Outside(command.to_owned()),
            Some(("chain", chain)) => named_chain(&chain.split('+').map(str::trim).collect::<Vec<_>>(), registry)?,
            Some(("config", file)) => of_config(&read_config(file, registry)?, registry)?,
            Some((kind, _)) => {
                let known = "chain:a+b+c, config:FILE, command:…, baseline:NAME";
                return Err(EvalError::Method(format!("`{kind}:` is no kind of method; there are {known}")));
            }
            None => bare(spec, registry)?,
        };
        Ok(Self { name: spec.to_owned(), how })
    }

    /// A configuration as a method, with a chain of its own where one is given.
    pub(crate) fn configured(
        name: &str,
        config: &Config,
        chain: Option<&[String]>,
        registry: &Registry,
    ) -> Result<Self, EvalError> {
        let runtime = build(config, registry)?;
        let chain = chain.map(|names| fixed_chain(&runtime, names, registry)).transpose()?;
        let mode = if chain.is_some() { Mode::Fixed } else { runtime.mode };
        let engine = epitome::engine_of(&runtime);
        Ok(Self { name: name.to_owned(), how: How::Engine(Box::new(EngineMethod { engine, mode, chain })) })
    }

    /// Its name in tables: what it was named by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compacts the prefix of a case to at most `budget` tokens. Linear in the prefix for each strategy of a chain.
    pub fn compact(&self, case: &Case, budget: u32) -> Outcome {
        self.compact_for(case, budget, None)
    }

    /// Whether it can be told what to keep in focus.
    pub fn takes_focus(&self) -> bool {
        matches!(self.how, How::Engine(_))
    }

    /// The same with `focus` as what to keep in focus, where the method takes one.
    pub fn compact_for(&self, case: &Case, budget: u32, focus: Option<&str>) -> Outcome {
        let started = Instant::now();
        let result = match &self.how {
            How::Baseline(baseline) => Ok(baseline.compact(case, budget)),
            How::Engine(method) => method.compact(case, budget, focus),
            How::Outside(command) => crate::outside::compact(command, TIMEOUT, case, budget),
        };
        let micros = started.elapsed().as_micros() as u64;
        match result {
            Ok(entries) => Outcome { entries: Some(entries), problem: None, micros },
            Err(problem) => Outcome { entries: None, problem: Some(problem), micros },
        }
    }
}

fn bare(spec: &str, registry: &Registry) -> Result<How, EvalError> {
    if spec == "default" {
        return of_config(&Config::default(), registry);
    }
    if spec == "tournament" || spec == "adaptive" {
        let How::Engine(mut method) = of_config(&Config::default(), registry)? else {
            return Err(EvalError::Method(spec.to_owned()));
        };
        method.mode = if spec == "adaptive" { Mode::Adaptive } else { Mode::Tournament };
        return Ok(How::Engine(method));
    }
    match Preset::by_name(spec) {
        Some(preset) => of_config(&Config::with_preset(preset), registry),
        None => named_chain(&[spec], registry),
    }
}

pub(crate) fn read_config(file: &str, registry: &Registry) -> Result<Config, EvalError> {
    let text = std::fs::read_to_string(file).map_err(|error| EvalError::Read { file: file.to_owned(), error })?;
    Config::parse(&text, file, registry).map_err(|errors| EvalError::Method(errors.to_string()))
}

pub(crate) fn build(config: &Config, registry: &Registry) -> Result<Runtime, EvalError> {
    config.build(registry).map_err(|errors| EvalError::Method(errors.to_string()))
}

fn of_config(config: &Config, registry: &Registry) -> Result<How, EvalError> {
    let runtime = build(config, registry)?;
    let engine = epitome::engine_of(&runtime);
    Ok(How::Engine(Box::new(EngineMethod { engine, mode: runtime.mode, chain: runtime.fixed })))
}

fn fixed_chain(runtime: &Runtime, names: &[String], registry: &Registry) -> Result<Chain, EvalError> {
    runtime.chain(names, registry).map_err(EvalError::Method)
}

fn named_chain(names: &[&str], registry: &Registry) -> Result<How, EvalError> {
    let runtime = build(&Config::default(), registry)?;
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let chain = fixed_chain(&runtime, &names, registry)?;
    let engine = epitome::engine_of(&runtime);
    Ok(How::Engine(Box::new(EngineMethod { engine, mode: Mode::Fixed, chain: Some(chain) })))
}

impl EngineMethod {
    fn compact(&self, case: &Case, budget: u32, focus: Option<&str>) -> Result<Vec<Entry>, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        let mut archive = MemoryArchive::new();
        let mut request = Request::to_budget(budget);
        request.mode = self.mode;
        request.focus = focus.map(str::to_owned);
        request.chain.clone_from(&self.chain);
        let compacted = block_on(self.engine.compact(&mut session, &mut ledger, &mut archive, &request));
        let report = compacted.map_err(|error| error.to_string())?;
        match report.status {
            Status::NoChange | Status::Compacted => Ok(session.view().to_vec()),
            Status::Infeasible => {
                let floor = report.floor.map_or(0, |floor| floor.tokens);
                Err(format!("infeasible: {floor} tokens must stay, the budget is {budget}"))
            }
        }
    }
}

/// The methods that `specs` name, and the free baselines behind them where they are not named: they are part of every
/// comparison.
pub fn methods(specs: &[String], registry: &Registry) -> Result<Vec<Arc<Method>>, EvalError> {
    let mut all: Vec<String> = Vec::new();
    let baselines = Baseline::ALL.iter().map(|baseline| format!("baseline:{}", baseline.as_str()));
    for spec in specs.iter().map(|spec| spec.trim().to_owned()).chain(baselines) {
        if !spec.is_empty() && !all.contains(&spec) {
            all.push(spec);
        }
    }
    all.iter().map(|spec| Method::parse(spec, registry).map(Arc::new)).collect()
}
