//! Policies: when and how a runtime would compact.

use epitome::config::Preset;
use epitome::engine::{Budget, Chain, Engine, Mode, Triggers};
use epitome::session::Block;
use epitome::{Config, Registry};

use crate::EvalError;
use crate::cases::text::distinct;
use crate::run::method::{build, read_config};

/// The name of the policy that never compacts.
pub const NEVER: &str = "never";
/// The name of the policy that compacts where the recording did, as it did.
pub const RECORDED: &str = "recorded";

/// A runtime's way of managing its context.
#[derive(Debug)]
pub struct Policy {
    name: String,
    pub(crate) how: PolicyKind,
}

/// The kind of a policy.
#[derive(Debug)]
pub(crate) enum PolicyKind {
    /// Nothing ever leaves.
    Never,
    /// The compactions of the recording.
    Recorded,
    /// This engine under a configuration.
    Engine(Box<EngineSetup>),
}

/// This engine under a configuration, with its budget.
#[derive(Debug)]
pub(crate) struct EngineSetup {
    pub(crate) engine: Engine,
    pub(crate) budget: Budget,
    pub(crate) triggers: Triggers,
    pub(crate) mode: Mode,
    pub(crate) chain: Option<Chain>,
}

impl Policy {
    /// Returns the policy that `spec` names: `never`, `recorded`, `default`, `tournament`, a preset, `chain:a+b+c`, or
    /// `config:FILE`. `window` is the model's window in place of the configuration's. The error says what would be
    /// right.
    pub fn parse(spec: &str, window: Option<u32>, registry: &Registry) -> Result<Self, EvalError> {
        let (config, chain, mode) = match spec.split_once(':') {
            None if spec == NEVER => return Ok(Self { name: spec.to_owned(), how: PolicyKind::Never }),
            None if spec == RECORDED => return Ok(Self { name: spec.to_owned(), how: PolicyKind::Recorded }),
            None if spec == "default" => (Config::default(), None, None),
            None if spec == "tournament" => (Config::default(), None, Some(Mode::Tournament)),
            None => {
                let preset = spec.parse().map_err(|_| unknown(spec))?;
                (Config::with_preset(preset), None, None)
            }
            Some(("chain", names)) => {
                let names: Vec<String> = names.split('+').map(|name| name.trim().to_owned()).collect();
                (Config::default(), Some(names), Some(Mode::Fixed))
            }
            Some(("config", file)) => (read_config(file, registry)?, None, None),
            Some(_) => return Err(unknown(spec)),
        };
        let mut config = config;
        if let Some(window) = window {
            let set = config.set("budget.window", &window.into());
            set.map_err(|problem| EvalError::Method(format!("{spec}: budget.window {problem}")))?;
        }
        let runtime = build(&config, registry)?;
        let chain = chain.map(|names| runtime.chain(&names, registry).map_err(EvalError::Method)).transpose()?;
        let mut engine = epitome::engine_of(&runtime);
        // Recorded reasoning is not part of a replay: most providers accept none back.
        engine.sent = epitome::engine::ReasoningFilter::matching(|_: &Block| false);
        let runs = EngineSetup {
            engine,
            mode: mode.unwrap_or(runtime.mode),
            chain: chain.or_else(|| runtime.fixed.clone()),
            budget: runtime.budget,
            triggers: runtime.triggers,
        };
        Ok(Self { name: spec.to_owned(), how: PolicyKind::Engine(Box::new(runs)) })
    }

    /// Returns its name in tables: the one that it was chosen by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn unknown(spec: &str) -> EvalError {
    let presets = Preset::ALL.map(Preset::as_str);
    EvalError::Method(format!(
        "`{spec}` is not a policy; there are default, tournament, chain:a+b+c, config:FILE, never, recorded, and the presets {}",
        presets.join(", ")
    ))
}

/// Returns the policies that `specs` name, between `never` and `recorded`, which are part of every comparison.
pub fn policies(specs: &[String], window: Option<u32>, registry: &Registry) -> Result<Vec<Policy>, EvalError> {
    let named = specs.iter().map(|spec| spec.trim()).filter(|spec| !spec.is_empty());
    let all = distinct([NEVER, RECORDED].into_iter().chain(named));
    all.into_iter().map(|spec| Policy::parse(spec, window, registry)).collect()
}
