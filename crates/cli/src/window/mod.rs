//! How much room a session's messages have, and what says so.

pub(crate) mod snapshot;

use epitome::config::Source;
use epitome::context::Fullness;
use epitome::engine::Ledger;
use epitome::formats::RecordedModel;
use epitome::strategy::{Registry, Value};
use epitome::{Budget, Engine, Runtime, Session};
use serde::Serialize;

use crate::args::WindowArgs;
use crate::configuration;
use crate::failure::Failure;

/// What the window of a session is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", content = "model", rename_all = "kebab-case")]
pub(crate) enum WindowSource {
    /// `--budget`.
    Budget,
    /// `--window`.
    Window,
    /// The name of a model: that of `--model`, or the one that the session names.
    Model(String),
    /// The configuration.
    Configuration,
    /// The session's file, which records the window itself.
    Recording,
    /// Nothing: it is the default. With the model that the session names, where its window is not known.
    Default(Option<String>),
}

/// The room of a session.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) runtime: Runtime,
    pub(crate) source: WindowSource,
    /// The room that `--budget` gives the messages.
    budget: Option<u32>,
    /// The model that the messages are for, where one is named.
    model: Option<String>,
}

impl Window {
    /// The room that the arguments, the configuration or the recording give, in this order.
    pub(crate) fn new(args: &WindowArgs, model: &RecordedModel, registry: &Registry) -> Result<Self, Failure> {
        let mut config = configuration::read_for_agent(&args.configuration, registry)?;
        let mut set = |option: &str, key: &str, value: Value| {
            config.set(key, &value).map_err(|problem| Failure::usage_text(format!("{option} {problem}")))
        };
        if let Some(name) = &args.model {
            set("--model", "budget.model", name.as_str().into())?;
        }
        if let Some(window) = args.window {
            set("--window", "budget.window", window.into())?;
        }
        let is_set = |key: &str| config.source(key) != Source::Default;
        let given = match (args.budget, args.window, &args.model) {
            (Some(_), ..) => Some(WindowSource::Budget),
            (_, Some(_), _) => Some(WindowSource::Window),
            (_, _, Some(name)) => Some(WindowSource::Model(name.clone())),
            _ => (is_set("budget.window") || is_set("budget.model")).then_some(WindowSource::Configuration),
        };
        let named = match (&args.model, config.source("budget.window")) {
            (Some(name), _) => Some(name.clone()),
            (None, Source::Model(name)) => Some(name),
            (None, _) => model.name.clone(),
        };
        // A window that is recorded is one that the agent used: where it cannot be set, the model's name is next.
        let is_recorded = given.is_none()
            && model.window.is_some_and(|window| config.set("budget.window", &Value::from(window)).is_ok());
        let mut runtime = configuration::build_without_model(config, registry)?;
        let source = match (given, &model.name) {
            (Some(given), _) => given,
            (None, _) if is_recorded => WindowSource::Recording,
            (None, Some(name)) => match runtime.budget_for(name) {
                Ok(budget) => {
                    runtime.budget = budget;
                    WindowSource::Model(name.clone())
                }
                Err(_) => WindowSource::Default(Some(name.clone())),
            },
            (None, None) => WindowSource::Default(None),
        };
        Ok(Self { runtime, source, budget: args.budget, model: named })
    }

    /// How full a session of this room is, whose messages take `tokens`. A budget of the messages alone is compared with these
    /// alone: what the provider counted is the whole request.
    pub(crate) fn fullness(&self, ledger: &Ledger, session: &Session, tokens: u32, budget: &Budget) -> Fullness {
        let measure = if self.budget.is_some() { Fullness::measure } else { Fullness::measure_reported };
        measure(ledger, session, tokens, budget, &self.runtime.triggers).for_model(self.model.as_deref())
    }

    /// The engine for a session of this room, and the budget that its messages have. Linear in the tool definitions.
    pub(crate) fn engine(&self, session: &Session) -> (Engine, Budget) {
        let engine = epitome::engine_of(&self.runtime);
        let tool_definitions = epitome::context::tool_definition_tokens(&*engine.counter_of(session), session);
        let budget = match self.budget {
            // A budget is for the messages alone: nothing is taken from it.
            Some(budget) => {
                let window = budget.saturating_add(tool_definitions);
                Budget { window, reserve_output: 0, tool_definitions, ..self.runtime.budget.clone() }
            }
            None => Budget { tool_definitions, ..self.runtime.budget.clone() },
        };
        (engine, budget)
    }
}
