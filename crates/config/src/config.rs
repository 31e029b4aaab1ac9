//! The configuration as plain data: values, and who set each.

use std::collections::BTreeMap;

use epitome_strategy::{SettingType, TaskKind, Value};

use crate::chains::default_chain;
use crate::keys::ENABLED;
use crate::preset::Preset;
use crate::sections::{Section, Tables};
use crate::source::{Source, Sources};

/// Effective values, each with where it came from. The default is what an empty file gives.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) presets: Vec<Preset>,
    pub(crate) tables: Tables,
    pub(crate) chains: BTreeMap<String, Vec<String>>,
    /// Settings that differ from the strategies' own defaults.
    pub(crate) strategies: BTreeMap<String, BTreeMap<String, Value>>,
    /// Whether no threshold calls for a compaction.
    pub(crate) never_compacts: bool,
    /// The agent that this is the configuration of.
    pub(crate) agent: Option<String>,
    /// Whether messages name channels and no addresses.
    pub(crate) hides_addresses: bool,
    /// Whether the host has conversations in which a model can be asked.
    pub(crate) has_conversations: bool,
    /// Whether a model's answers that are kept count with what they took.
    pub(crate) counts_known_answers: bool,
    /// The source of each value.
    pub(crate) sources: Sources,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            presets: Vec::new(),
            tables: Tables::default(),
            chains: TaskKind::ALL
                .into_iter()
                .map(|kind| (kind.as_str().to_owned(), default_chain(kind).iter().map(ToString::to_string).collect()))
                .collect(),
            strategies: BTreeMap::new(),
            never_compacts: false,
            agent: None,
            hides_addresses: false,
            has_conversations: false,
            counts_known_answers: false,
            sources: Sources::default(),
        }
    }
}

impl Config {
    /// The defaults with a preset over them.
    pub fn with_preset(preset: Preset) -> Self {
        let mut config = Self::default();
        config.apply_preset(preset);
        config
    }

    pub(crate) fn apply_preset(&mut self, preset: Preset) {
        self.presets.push(preset);
        for (key, value) in preset.values(self.tables.budget.soft.0) {
            let assigned = self.assign(&key, &value, Source::Preset(preset));
            debug_assert_eq!(assigned, Ok(()), "preset {preset}: {key}");
        }
    }

    /// Applies a preset below the file: keys that the file sets, or a later layer, stay.
    pub(crate) fn apply_preset_below(&mut self, preset: Preset) {
        self.presets.push(preset);
        for (key, value) in preset.values(self.tables.budget.soft.0) {
            if self.sources.get(&key).layer() <= Source::Preset(preset).layer() {
                let assigned = self.assign(&key, &value, Source::Preset(preset));
                debug_assert_eq!(assigned, Ok(()), "preset {preset}: {key}");
            }
        }
    }

    /// Sets one value over those of the file, as an option of a command does; `key` is spelt with its section, such as
    /// `budget.window`. The error says what would be right. What only shows in combination is found by
    /// [`build`](Self::build).
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        self.assign(key, value, Source::Host)
    }

    pub(crate) fn assign(&mut self, key: &str, value: &Value, source: Source) -> Result<(), String> {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        match section {
            "chains" => {
                let chain: Vec<String> = SettingType::from_value(value)?;
                self.chains.insert(name.to_owned(), chain);
            }
            "strategies" => {
                let (strategy, setting) =
                    name.split_once('.').ok_or("takes a table of settings, such as [strategies.sliding-window]")?;
                self.strategies.entry(strategy.to_owned()).or_default().insert(setting.to_owned(), value.clone());
            }
            _ if key == ENABLED => self.never_compacts = value == false,
            section => self.tables.set(section, name, value)?,
        }
        self.sources.note(key, source);
        Ok(())
    }

    /// Removes a named table, with the sources of its keys.
    pub(crate) fn remove_named(&mut self, section: &Section, name: &str) {
        if self.tables.remove(section.name, name) {
            let table = format!("{}.{name}", section.name);
            self.sources.forget(&table);
            for field in section.fields {
                self.sources.forget(&format!("{table}.{}", field.name));
            }
        }
    }

    /// The agent that this is the configuration of, see [`for_agent`](Self::for_agent).
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The presets in force, in the order in which they were applied.
    pub fn presets(&self) -> &[Preset] {
        &self.presets
    }
}
