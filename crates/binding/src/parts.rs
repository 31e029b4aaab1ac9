//! The parts of an engine that every call of it shares.

use std::fmt;
use std::sync::Arc;

use epitome::config::Source;
use epitome::engine::{Budget, Chain, Mode, WithoutSummary};
use epitome::live::Compaction;
use epitome::providers::RuleSummarizer;
use epitome::strategy::{Embedder, Registry, Summarizer, Value};
use epitome::{Config, Engine, Request, Runtime};
use serde_json::Map;

use crate::{CompactOptions, Failure, read_options};

/// Makes the summarizer of a host; it is given the one that takes over where the host's fails, if the configuration asks for
/// one.
pub type MakeSummarizer = Box<dyn FnOnce(Option<Arc<dyn Summarizer>>) -> Arc<dyn Summarizer>>;

/// A configuration, built, with what the host brought in place of what it says.
pub struct Parts {
    /// What the configuration describes.
    pub runtime: Runtime,
    /// The strategies, those of the configuration's own commands included.
    pub registry: Registry,
    /// Whether something sets the window: strategies go by the budget where nothing does.
    has_window: bool,
    summarizer: Option<Arc<dyn Summarizer>>,
    /// Whether the host brought the summarizer.
    is_hosts: bool,
}

impl fmt::Debug for Parts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Parts").field("has_window", &self.has_window).finish_non_exhaustive()
    }
}

impl Parts {
    /// Builds them. `summarizer` and `embedder` stand in place of what the configuration asks for.
    ///
    /// # Errors
    ///
    /// Every problem of the configuration.
    pub fn new(
        config: &Config,
        registry: Registry,
        summarizer: Option<MakeSummarizer>,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Result<Self, Failure> {
        let mut runtime = config.build(&registry)?;
        if embedder.is_some() {
            runtime.base_engine.embedder = embedder;
        }
        let is_hosts = summarizer.is_some();
        let summarizer = match summarizer {
            None => runtime.make_summarizer(None),
            Some(make) => {
                let second = match runtime.base_engine.without_summary {
                    WithoutSummary::Stop => None,
                    WithoutSummary::GoOn => Some(Arc::new(RuleSummarizer) as Arc<dyn Summarizer>),
                };
                Some(make(second))
            }
        };
        let has_window = config.source("budget.window") != Source::Default;
        let registry = config.registry(&registry);
        Ok(Self { runtime, registry, has_window, summarizer, is_hosts })
    }

    /// The parts for one call that brings settings of its own; what the host brought stays.
    ///
    /// # Errors
    ///
    /// What a call may not set, or what is wrong with it.
    pub fn for_call(&self, settings: &Map<String, Value>) -> Result<Self, Failure> {
        let mut runtime = self.runtime.for_call(settings, &self.registry)?;
        runtime.base_engine.embedder.clone_from(&self.runtime.base_engine.embedder);
        let summarizer = if self.is_hosts { self.summarizer.clone() } else { runtime.make_summarizer(None) };
        let has_window = self.has_window || runtime.budget.window != self.runtime.budget.window;
        Ok(Self { runtime, registry: self.registry.clone(), has_window, summarizer, is_hosts: self.is_hosts })
    }

    /// An engine, for sessions that exist and those that are going on.
    pub fn engine(&self) -> Engine {
        self.runtime.engine(Arc::clone(&self.runtime.counter), self.summarizer.clone())
    }

    /// The chain of these strategies, or of that name.
    ///
    /// # Errors
    ///
    /// It does not exist.
    pub fn chain(&self, names: &[String]) -> Result<Chain, Failure> {
        self.runtime.chain(names, &self.registry).map_err(|problem| Failure::config(format!("`chain`: {problem}")))
    }

    /// Returns the compaction that options ask for of a session that is going on, and whose messages take `now` tokens.
    ///
    /// # Errors
    ///
    /// The first option that is wrong.
    pub fn compaction(&self, options: &str, now: u32) -> Result<Compaction, Failure> {
        let options: CompactOptions = read_options(options)?;
        Ok(Compaction {
            target: options.budget.0.map(|budget| budget.tokens(now)),
            task: options.task.map(|task| task.0),
            chain: options.chain_names().map(|names| self.chain(&names)).transpose()?,
            focus: options.focus,
            keep: options.keep.0,
            drop: options.drop.0,
            ..Compaction::default()
        })
    }

    /// The request that the options of a call make for a session whose messages take `now` tokens, and its tool definitions
    /// `tool_definitions`.
    ///
    /// # Errors
    ///
    /// A chain that does not exist, `mode` fixed without one, and another `mode` with one.
    pub fn request(&self, options: &CompactOptions, now: u32, tool_definitions: u32) -> Result<Request, Failure> {
        let mut request = Request::to_budget(0);
        let (mode, task) = (options.mode.map(|mode| mode.0), options.task.map(|task| task.0));
        request.task = task;
        request.focus = options.focus.clone();
        (request.keep, request.drop) = (options.keep.0.clone(), options.drop.0.clone());
        request.mode = mode.unwrap_or(if task.is_some() { Mode::Adaptive } else { self.runtime.mode });
        if let Some(names) = options.chain_names() {
            if mode.is_some_and(|mode| mode != Mode::Fixed) {
                let problem = "`chain` names the chain: no other `mode` than fixed goes with it; leave one of them out";
                return Err(Failure::config(problem));
            }
            request.chain = Some(self.chain(&names)?);
            request.mode = Mode::Fixed;
        } else if request.mode == Mode::Fixed {
            let help = "`mode` fixed needs a chain: name one with `chain`, or with [select] chain in the configuration";
            request.chain = Some(self.runtime.fixed.clone().ok_or_else(|| Failure::config(help))?);
        }
        match options.budget.0 {
            Some(budget) => {
                let tokens = budget.tokens(now);
                (request.limit, request.target) = (tokens, tokens);
                request.window = self.has_window.then_some(self.runtime.budget.window);
            }
            None => {
                let budget = Budget { tool_definitions, ..self.runtime.budget.clone() };
                let usable = budget.usable();
                request.limit = budget.hard.tokens(usable).min(usable);
                request.target = budget.target.tokens(usable).min(request.limit);
                request.window = Some(budget.window);
            }
        }
        Ok(request)
    }
}
