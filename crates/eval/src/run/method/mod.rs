//! The methods that are measured: chains, presets and configurations of this engine, and baselines.

mod engine;
mod spec;

use std::sync::Arc;
use std::time::Instant;

use epitome::engine::{Engine, Mode};
use epitome::session::Entry;
use epitome::{Config, Registry};

use crate::EvalError;
use crate::cases::case::Case;
use crate::cases::text::distinct;
use crate::run::baselines::Baseline;
use engine::EngineMethod;
use spec::{bare, fixed_chain, named_chain, of_config, with_settings};

pub(crate) use spec::{build, read_config};

/// A way to compact.
#[derive(Debug)]
pub struct Method {
    name: String,
    how: MethodKind,
}

#[derive(Debug)]
enum MethodKind {
    Engine(Box<EngineMethod>),
    Baseline(Baseline),
    Other(Box<dyn OtherMethod>),
}

/// A way to compact that is not of this crate.
pub trait OtherMethod: std::fmt::Debug + Send + Sync {
    /// Compacts the prefix of a case to at most `budget` tokens; the error says why there is no result.
    fn compact(&self, case: &Case, budget: u32) -> Result<Vec<Entry>, String>;
}

/// The result of a method for a case.
#[derive(Debug)]
pub struct MethodOutcome {
    /// The compacted view; `None` where there is none.
    pub entries: Option<Vec<Entry>>,
    /// Why there is none.
    pub problem: Option<String>,
    /// How long it took, in microseconds: counting, planning, writing.
    pub micros: u64,
}

impl Method {
    /// Returns the method that `spec` names: `default`, `tournament`, a preset, a chain of the default configuration, a
    /// strategy, `chain:a+b+c`, `set:KEY=VALUE+KEY=VALUE` for the default with other settings, `config:FILE`, or
    /// `baseline:newest|tail|cleared|identifiers`. The error says what would be right.
    pub fn parse(spec: &str, registry: &Registry) -> Result<Self, EvalError> {
        let how = match spec.split_once(':') {
            Some(("baseline", name)) => {
                MethodKind::Baseline(name.parse().map_err(|error| EvalError::Method(format!("`{spec}`: {error}")))?)
            }
            Some(("chain", chain)) => named_chain(&chain.split('+').map(str::trim).collect::<Vec<_>>(), registry)?,
            Some(("config", file)) => of_config(&read_config(file, registry)?, registry)?,
            Some(("set", settings)) => of_config(&with_settings(settings, registry)?, registry)?,
            Some((kind, _)) => {
                let known = "chain:a+b+c, set:KEY=VALUE+KEY=VALUE, config:FILE, baseline:NAME";
                return Err(EvalError::Method(format!("`{kind}:` is not a kind of method; there are {known}")));
            }
            None => bare(spec, registry)?,
        };
        Ok(Self { name: spec.to_owned(), how })
    }

    /// Returns a way to compact as the method `name`.
    pub fn other(name: &str, how: impl OtherMethod + 'static) -> Self {
        Self { name: name.to_owned(), how: MethodKind::Other(Box::new(how)) }
    }

    /// Returns a configuration as a method, with a chain of its own where one is given.
    pub(crate) fn configured(
        name: &str,
        config: &Config,
        chain: Option<&[String]>,
        registry: &Registry,
    ) -> Result<Self, EvalError> {
        let runtime = build(config, registry)?;
        let chain = chain.map(|names| fixed_chain(&runtime, names, registry)).transpose()?;
        let mode = if chain.is_some() { Mode::Fixed } else { runtime.mode };
        // Chains are compared by what they choose themselves.
        let engine = Engine { refill: chain.is_none(), tells_state: chain.is_none(), ..epitome::engine_of(&runtime) };
        Ok(Self { name: name.to_owned(), how: MethodKind::Engine(Box::new(EngineMethod { engine, mode, chain })) })
    }

    /// Returns its name in tables: the one that it was chosen by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compacts the prefix of a case to at most `budget` tokens. Linear in the prefix for each strategy of a chain.
    pub fn compact(&self, case: &Case, budget: u32) -> MethodOutcome {
        let started = Instant::now();
        let result = match &self.how {
            MethodKind::Baseline(baseline) => Ok(baseline.compact(case, budget)),
            MethodKind::Engine(method) => method.compact(case, budget),
            MethodKind::Other(method) => method.compact(case, budget),
        };
        let micros = started.elapsed().as_micros() as u64;
        match result {
            Ok(entries) => MethodOutcome { entries: Some(entries), problem: None, micros },
            Err(problem) => MethodOutcome { entries: None, problem: Some(problem), micros },
        }
    }
}

/// Returns the methods that `specs` name, and the free baselines behind them where they are not named: they are part of
/// every comparison.
pub fn methods(specs: &[String], registry: &Registry) -> Result<Vec<Arc<Method>>, EvalError> {
    let baselines = Baseline::ALL.iter().map(|baseline| format!("baseline:{}", baseline.as_str()));
    let named = specs.iter().map(|spec| spec.trim().to_owned()).filter(|spec| !spec.is_empty());
    distinct(named.chain(baselines)).iter().map(|spec| Method::parse(spec, registry).map(Arc::new)).collect()
}
