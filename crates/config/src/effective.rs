//! The values in force, and their sources.

use epitome_strategy::{Registry, SettingType, TaskKind, Value};

use crate::chains::default_llm_chain;
use crate::config::Config;
use crate::keys::keys;
use crate::source::Source;
use crate::values::Limit;

/// One effective value.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveValue {
    /// The key with its section, such as `budget.window`.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub source: Source,
}

impl Config {
    /// Where an effective value comes from; `key` is spelt with its section.
    pub fn source(&self, key: &str) -> Source {
        let set = self.sources.get(key);
        match (key, set) {
            ("budget.window", _) if self.window_of_model().is_some() => Source::Model(self.tables.budget.model.clone()),
            ("budget.reserve_output", set) => match self.window_of_model() {
                Some(limits) if limits.reserve_output.is_some() || set == Source::Default => {
                    Source::Model(self.tables.budget.model.clone())
                }
                Some(_) | None => set,
            },
            ("summary.summarizer", _) if self.summarizer() != self.tables.summary.summarizer => Source::NoChannel,
            (key, Source::Default) if self.is_llm_chain(key) => Source::Llm,
            (_, set) => set,
        }
    }

    /// The chain of that name that is in force: a default one is another where a model writes the summaries.
    pub(crate) fn chain(&self, name: &str) -> Option<Vec<String>> {
        let kind = name.parse::<TaskKind>().ok();
        match kind.filter(|_| self.source(&format!("chains.{name}")) == Source::Llm) {
            Some(_) => Some(default_llm_chain().iter().map(ToString::to_string).collect()),
            None => self.chains.get(name).cloned(),
        }
    }

    /// Whether a key is that of a task type's chain, and a model writes the summaries.
    fn is_llm_chain(&self, key: &str) -> bool {
        let name = key.strip_prefix("chains.");
        name.is_some_and(|name| name.parse::<TaskKind>().is_ok()) && self.summarizer().asks_model()
    }

    /// Every effective value, in the order of the template: the values really in force, for a person to read.
    pub fn effective(&self, registry: &Registry) -> Vec<EffectiveValue> {
        let registry = &self.registry(registry);
        let entry = |key: String, value: Value| EffectiveValue { source: self.source(&key), key, value };
        let fixed = keys().filter_map(|key| {
            let value = self.value(key.section, key.field.name)?;
            Some(entry(format!("{}.{}", key.section, key.field.name), value))
        });
        let chains =
            self.chains.keys().filter_map(|name| Some(entry(format!("chains.{name}"), self.chain(name)?.into())));
        let settings = registry.iter().flat_map(|registration| {
            let id = registration.meta.id;
            let settings = self.strategies.get(id);
            registration.fields.iter().map(move |field| {
                let key = format!("strategies.{id}.{}", field.name);
                let value = settings.and_then(|set| set.get(field.name)).cloned().unwrap_or_else(field.default);
                entry(key, value)
            })
        });
        fixed.chain(chains).chain(settings).chain(self.effective_named()).collect()
    }

    /// The values set for models, channels and agents.
    fn effective_named(&self) -> Vec<EffectiveValue> {
        let entry = |(key, value): (String, Value)| EffectiveValue { source: self.source(&key), key, value };
        self.tables.named_values().into_iter().map(entry).filter(|entry| entry.source != Source::Default).collect()
    }

    pub(crate) fn value(&self, section: &str, name: &str) -> Option<Value> {
        match section {
            "budget" if name == "reserve_output" => Some(self.reserve_output().into()),
            "budget" if name == "window" => Some(self.window().into()),
            "budget" if matches!(name, "soft" | "hard" | "target") => {
                let [soft, hard, target] = self.thresholds();
                let threshold = match name {
                    "soft" => soft,
                    "hard" => hard,
                    _ => target,
                };
                Some(Limit(threshold).to_value())
            }
            "summary" if name == "summarizer" => Some(self.summarizer().to_value()),
            _ => self.tables.get(section, name),
        }
    }
}
