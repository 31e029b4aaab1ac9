//! Agents of one system, each with what it does differently.

use epitome_engine::{Mode, Threshold};
use epitome_strategy::{SettingType, SettingsTable, Value};
use serde_json::Map;

use crate::config::Config;
use crate::error::{Problem, suggestion};
use crate::named::AgentTable;
use crate::source::Source;
use crate::values::{Limit, SummarizerChoice};

/// The keys of an agent that replace one of another section, each with that one. [`Config::take`] and
/// [`Config::agent_in_force`] handle the others.
const TARGETS: [(&str, &str); 8] = [
    ("runs_on", "budget.model"),
    ("window", "budget.window"),
    ("keep_recent", "pins.keep_recent"),
    ("handles", "marks.handles"),
    ("summarizer", "summary.summarizer"),
    ("channel", "summary.channel"),
    ("model", "summary.model"),
    ("chain", "select.chain"),
];

impl Config {
    /// The names of the agents that have settings of their own.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.tables.agents.keys().map(String::as_str)
    }

    /// The configuration for one agent: that for all with the agent's own settings over it. The error names the agents
    /// that there are. What only shows in combination is found by [`build`](Self::build), and was by
    /// [`parse`](Self::parse).
    pub fn for_agent(&self, name: &str) -> Result<Self, Problem> {
        let Some(table) = self.tables.agents.get(name) else {
            let help = suggestion(name, self.agents(), || match self.tables.agents.is_empty() {
                true => format!("write [agents.{name}] and its settings below it"),
                false => format!("[agents] has {}", self.agents().collect::<Vec<_>>().join(", ")),
            });
            return Err(Problem::new(None, format!("there is no agent `{name}`")).with_help(help));
        };
        let mut config = self.clone();
        config.take(table, |key| self.source(&format!("agents.{name}.{key}")));
        if config.source("budget.soft") == Source::Default && !config.never_compacts {
            config.set_percent(AgentTable::default().threshold_percent, &Source::Agent);
        }
        config.agent = Some(name.to_owned());
        Ok(config)
    }

    /// Takes the settings of an agent over; `source` says who set which of them.
    pub(crate) fn take(&mut self, table: &AgentTable, source: impl Fn(&str) -> Source) {
        let config = self;
        let is_set = |key: &str| source(key) != Source::Default;
        if is_set("preset") {
            table.preset.0.iter().for_each(|preset| config.apply_preset(*preset));
        }
        if is_set("runs_on") {
            // The window and the reserve that were set for the earlier model do not hold for this one.
            config.forget_window();
        }
        let mut assign = |key: &str, target: &str, value: Option<Value>| {
            let Some(value) = value.filter(|_| is_set(key)) else { return };
            let assigned = config.assign(target, &value, source(key));
            // The value was checked as one of the agent's.
            debug_assert_eq!(assigned, Ok(()), "{key}");
        };
        for (key, target) in TARGETS {
            assign(key, target, table.get(key));
        }
        let mode = if table.chain.is_empty() { Mode::Adaptive } else { Mode::Fixed };
        assign("chain", "select.mode", Some(mode.to_value()));
        if is_set("channel") && !is_set("model") {
            // The model for all is one of another channel.
            config.tables.summary.model.clear();
        }
        if (is_set("channel") || is_set("model")) && !is_set("summarizer") {
            // An agent that names a model wants it asked.
            config.tables.summary.summarizer = SummarizerChoice::Llm;
            config.sources.note("summary.summarizer", source(if is_set("channel") { "channel" } else { "model" }));
        }
        if is_set("threshold_percent") {
            config.set_percent(table.threshold_percent, &source("threshold_percent"));
        }
    }

    /// The settings in force of `[agents.NAME]` in this configuration, which comes from [`for_agent`](Self::for_agent),
    /// or is the one for all: each key with its value, null where it has none. Presets are expanded.
    pub fn agent_in_force(&self) -> Map<String, Value> {
        let budget = self.budget();
        let usable = budget.usable();
        let percent = || match budget.soft {
            Threshold::NEVER => 0,
            soft => (f64::from(soft.tokens(usable)) * 100.0 / f64::from(usable.max(1))).round() as u32,
        };
        // A channel and a model are in force where a model writes the summaries.
        let chosen = self.summary_channel().ok().filter(|_| self.summarizer().asks_model());
        let in_force = |(key, target): (&'static str, &str)| {
            let value = match key {
                "channel" => chosen.as_ref().map(|chosen| chosen.name.into()),
                "model" => chosen.as_ref().map(|chosen| chosen.model.into()),
                "chain" if self.tables.select.mode != Mode::Fixed => None,
                _ => target.split_once('.').and_then(|(section, name)| self.value(section, name)),
            };
            (key.to_owned(), value.filter(|value| value != "").unwrap_or_default())
        };
        let percent = ("threshold_percent".to_owned(), percent().into());
        TARGETS.into_iter().map(in_force).chain([percent]).collect()
    }

    /// The soft threshold as a percentage of the usable window. A target that is not below it and a hard threshold that is go
    /// back to their defaults, which follow it, so that every percentage goes with every file.
    fn set_percent(&mut self, percent: u32, source: &Source) {
        self.never_compacts = percent == 0;
        if percent == 0 {
            return;
        }
        let soft = Threshold::Share(f64::from(percent) / 100.0);
        let budget = self.budget();
        let usable = budget.usable();
        if budget.target.tokens(usable) >= soft.tokens(usable) {
            self.reset("target");
        }
        if budget.hard.tokens(usable) < soft.tokens(usable) {
            self.reset("hard");
        }
        let assigned = self.assign("budget.soft", &Limit(soft).to_value(), source.clone());
        debug_assert_eq!(assigned, Ok(()));
    }
}
