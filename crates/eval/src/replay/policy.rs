//! Policies: when and how a runtime would compact.

use epitome::Registry;
use epitome::engine::{Budget, Chain, Engine, Mode, Triggers};
use epitome::session::Block;

use super::own::{AgentCompaction, OWN};
use crate::EvalError;
use crate::cases::text::distinct;
use crate::run::method::{build, named};

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
    /// The compaction that an agent comes with.
    Own(AgentCompaction),
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
    /// Returns the policy that `spec` names: `never`, `recorded`, `own:AGENT`, or a configuration or a chain by the names that
    /// methods have (`named`). `window` is the model's window in place of the configuration's. The error says what would be
    /// right.
    pub fn parse(spec: &str, window: Option<u32>, registry: &Registry) -> Result<Self, EvalError> {
        let how = match (spec, spec.strip_prefix(OWN)) {
            (NEVER, _) => PolicyKind::Never,
            (RECORDED, _) => PolicyKind::Recorded,
            (_, Some(agent)) => PolicyKind::Own(AgentCompaction::by_name(agent)?),
            _ => PolicyKind::Engine(Box::new(EngineSetup::new(spec, window, registry)?)),
        };
        Ok(Self { name: spec.to_owned(), how })
    }

    /// Returns its name in tables: the one that it was chosen by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl EngineSetup {
    fn new(spec: &str, window: Option<u32>, registry: &Registry) -> Result<Self, EvalError> {
        let (mut config, chain) = named(spec, registry)?;
        if let Some(window) = window {
            let set = config.set("budget.window", &window.into());
            set.map_err(|problem| EvalError::Method(format!("{spec}: budget.window {problem}")))?;
        }
        let runtime = build(&config, registry)?;
        let chain = chain.map(|names| runtime.chain(&names, registry).map_err(EvalError::Method)).transpose()?;
        let mut engine = epitome::engine_of(&runtime);
        // Recorded reasoning is not part of a replay: most providers accept none back.
        engine.sent = epitome::engine::ReasoningFilter::matching(|_: &Block| false);
        Ok(Self {
            engine,
            mode: if chain.is_some() { Mode::Fixed } else { runtime.mode },
            chain: chain.or(runtime.fixed),
            budget: runtime.budget,
            triggers: runtime.triggers,
        })
    }
}

/// Returns the policies that `specs` name, between `never` and `recorded`, which are part of every comparison.
pub fn policies(specs: &[String], window: Option<u32>, registry: &Registry) -> Result<Vec<Policy>, EvalError> {
    let named = specs.iter().map(|spec| spec.trim()).filter(|spec| !spec.is_empty());
    let all = distinct([NEVER, RECORDED].into_iter().chain(named));
    all.into_iter().map(|spec| Policy::parse(spec, window, registry)).collect()
}
