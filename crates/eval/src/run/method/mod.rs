//! The methods that are measured: chains, presets and configurations of this engine, and baselines.

mod command;
mod engine;
mod model;
mod spec;

use std::sync::Arc;
use std::time::Instant;

use epitome::engine::{Engine, Mode};
use epitome::session::{Entry, SummaryUsage};
use epitome::{Config, Registry, Session};

use crate::EvalError;
use crate::cases::case::Case;
use crate::cases::cut::part_of;
use crate::cases::text::distinct;
use crate::run::baselines::Baseline;
use engine::EngineMethod;

pub(crate) use spec::{build, named};

/// A way to compact.
pub struct Method {
    name: String,
    how: MethodKind,
}

enum MethodKind {
    Engine(Box<EngineMethod>),
    Baseline(Baseline),
    Other(Box<OtherMethod>),
}

/// From a case and the most tokens to a compacted view, or why there is none.
type OtherMethod = dyn Fn(&Case, u32) -> Result<Vec<Entry>, String> + Send + Sync;

impl std::fmt::Debug for Method {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Method").field(&self.name).finish()
    }
}

/// The result of a method for a case.
#[derive(Debug, Default)]
pub struct MethodOutcome {
    /// The compacted view; `None` where there is none.
    pub entries: Option<Vec<Entry>>,
    /// Why there is none.
    pub problem: Option<String>,
    /// How long it took, in microseconds: counting, planning, writing.
    pub micros: u64,
    /// What models took for its summaries, also where there is no result.
    pub summaries: SummaryUsage,
}

impl MethodOutcome {
    /// Returns the outcome that is a view.
    pub(crate) fn of_view(entries: Vec<Entry>) -> Self {
        Self { entries: Some(entries), ..Self::default() }
    }

    /// Returns a result, and the outcome without its view.
    fn since<T>(started: Instant, result: Result<T, String>, summaries: SummaryUsage) -> (Option<T>, Self) {
        let micros = started.elapsed().as_micros() as u64;
        let (result, problem) = match result {
            Ok(result) => (Some(result), None),
            Err(problem) => (None, Some(problem)),
        };
        (result, Self { entries: None, problem, micros, summaries })
    }
}

impl Method {
    /// Returns the method that `spec` names: a configuration or a chain as `named` has them, or
    /// `baseline:newest|tail|cleared|identifiers`. The error says what would be right.
    pub fn parse(spec: &str, registry: &Registry) -> Result<Self, EvalError> {
        if let Some(("baseline", name)) = spec.split_once(':') {
            let baseline = name.parse().map_err(|error| EvalError::Method(format!("`{spec}`: {error}")))?;
            return Ok(Self { name: spec.to_owned(), how: MethodKind::Baseline(baseline) });
        }
        let (config, chain) = named(spec, registry)?;
        Self::configured(spec, &config, chain.as_deref(), registry)
    }

    /// Returns a way to compact that is not of this crate as the method `name`: it gets a case and the most tokens of its
    /// prefix's result; its error says why there is none.
    pub fn other(name: &str, how: impl Fn(&Case, u32) -> Result<Vec<Entry>, String> + Send + Sync + 'static) -> Self {
        Self { name: name.to_owned(), how: MethodKind::Other(Box::new(how)) }
    }

    /// Returns a configuration as a method, with a chain of its own where one is given. A model that is to write summaries
    /// answers a short question first, so that a wrong address or key is an error before anything is measured; from then on
    /// a compaction whose summary it does not give has no result: what rules write for it is not what is measured.
    pub fn configured(
        name: &str,
        config: &Config,
        chain: Option<&[String]>,
        registry: &Registry,
    ) -> Result<Self, EvalError> {
        let config = if config.summarizer().asks_model() { &model::measured_alone(config)? } else { config };
        let runtime = build(config, registry)?;
        let own = epitome::engine_of(&runtime);
        let method = match chain {
            None => EngineMethod { engine: own, mode: runtime.mode, chain: runtime.fixed },
            // Chains are compared by what they choose themselves.
            Some(names) => EngineMethod {
                engine: Engine { refill: false, tells_state: false, ..own },
                mode: Mode::Fixed,
                chain: Some(runtime.chain(names, registry).map_err(EvalError::Method)?),
            },
        };
        Ok(Self { name: name.to_owned(), how: MethodKind::Engine(Box::new(method)) })
    }

    /// Returns its name in tables: the one that it was chosen by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compacts the prefix of a case to at most `budget` tokens. Linear in the prefix for each strategy of a chain.
    pub fn compact(&self, case: &Case, budget: u32) -> MethodOutcome {
        let (started, mut summaries) = (Instant::now(), SummaryUsage::default());
        let result = match &self.how {
            MethodKind::Baseline(baseline) => Ok(baseline.compact(case, budget)),
            MethodKind::Engine(method) => method.compact(case, budget, &mut summaries).map(|it| it.view().to_vec()),
            MethodKind::Other(compact) => compact(case, budget),
        };
        let (entries, outcome) = MethodOutcome::since(started, result, summaries);
        MethodOutcome { entries, ..outcome }
    }

    /// Compacts the prefix of a case and returns the session that goes on, where there is one, beside an outcome without its
    /// view: this engine's knows what left it, that of any other method is its messages alone.
    pub(crate) fn compact_on(&self, case: &Case, budget: u32) -> (Option<Session>, MethodOutcome) {
        if let MethodKind::Engine(method) = &self.how {
            let (started, mut summaries) = (Instant::now(), SummaryUsage::default());
            let session = method.compact(case, budget, &mut summaries);
            return MethodOutcome::since(started, session, summaries);
        }
        let mut outcome = self.compact(case, budget);
        let messages = |view: Vec<Entry>| part_of(&case.prefix, view.into_iter().map(|entry| entry.message));
        (outcome.entries.take().map(messages), outcome)
    }
}

/// Returns the methods that `specs` name, and the free baselines behind them where they are not named: they are part of
/// every comparison.
pub fn methods(specs: &[String], registry: &Registry) -> Result<Vec<Arc<Method>>, EvalError> {
    let baselines = Baseline::ALL.iter().map(|baseline| format!("baseline:{}", baseline.as_str()));
    let named = specs.iter().map(|spec| spec.trim().to_owned()).filter(|spec| !spec.is_empty());
    distinct(named.chain(baselines)).iter().map(|spec| Method::parse(spec, registry).map(Arc::new)).collect()
}
