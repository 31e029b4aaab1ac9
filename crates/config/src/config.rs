//! The configuration as plain data: effective values, and where each came from.

use std::collections::BTreeMap;

use epitome_strategy::{SettingType, SettingsTable, TaskKind, Value};

use crate::chains::default_chain;
use crate::error::Place;
use crate::keys::Section;
use crate::live::{LiveTable, TriggersTable};
use crate::named::{AgentTable, ChannelTable, ModelTable};
use crate::preset::Preset;
use crate::source::Source;
use crate::tables::{
    BudgetTable, CounterTable, EmbeddingsTable, LexiconTable, MarksTable, PinsTable, ProxyTable, QualityTable,
    SelectTable, SummaryTable,
};

/// Effective values, each with where it came from. The default is what an empty file gives.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) presets: Vec<Preset>,
    pub(crate) budget: BudgetTable,
    pub(crate) triggers: TriggersTable,
    pub(crate) live: LiveTable,
    pub(crate) counter: CounterTable,
    pub(crate) pins: PinsTable,
    pub(crate) marks: MarksTable,
    pub(crate) proxy: ProxyTable,
    pub(crate) select: SelectTable,
    pub(crate) quality: QualityTable,
    pub(crate) summary: SummaryTable,
    pub(crate) embeddings: EmbeddingsTable,
    pub(crate) lexicon: LexiconTable,
    pub(crate) chains: BTreeMap<String, Vec<String>>,
    /// Settings that differ from the strategies' own defaults.
    pub(crate) strategies: BTreeMap<String, BTreeMap<String, Value>>,
    pub(crate) models: BTreeMap<String, ModelTable>,
    pub(crate) channels: BTreeMap<String, ChannelTable>,
    pub(crate) agents: BTreeMap<String, AgentTable>,
    /// Whether no threshold calls for a compaction.
    pub(crate) never_compacts: bool,
    /// The agent that this is the configuration of.
    pub(crate) agent: Option<String>,
    /// Whether messages name channels and no addresses.
    pub(crate) hides_addresses: bool,
    /// Whether the host has conversations in which a model can be asked.
    pub(crate) has_conversations: bool,
    pub(crate) sources: BTreeMap<String, Source>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            presets: Vec::new(),
            budget: BudgetTable::default(),
            triggers: TriggersTable::default(),
            live: LiveTable::default(),
            counter: CounterTable::default(),
            pins: PinsTable::default(),
            marks: MarksTable::default(),
            proxy: ProxyTable::default(),
            select: SelectTable::default(),
            quality: QualityTable::default(),
            summary: SummaryTable::default(),
            embeddings: EmbeddingsTable::default(),
            lexicon: LexiconTable::default(),
            chains: TaskKind::ALL
                .into_iter()
                .map(|kind| (kind.as_str().to_owned(), default_chain(kind).iter().map(ToString::to_string).collect()))
                .collect(),
            strategies: BTreeMap::new(),
            models: BTreeMap::new(),
            channels: BTreeMap::new(),
            agents: BTreeMap::new(),
            never_compacts: false,
            agent: None,
            hides_addresses: false,
            has_conversations: false,
            sources: BTreeMap::new(),
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
        for (key, value) in preset.values(self.budget.soft.0) {
            let assigned = self.assign(&key, &value, Source::Preset(preset));
            debug_assert_eq!(assigned, Ok(()), "preset {preset}: {key}");
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
            "budget" => set_in(&mut self.budget, name, value)?,
            "triggers" => set_in(&mut self.triggers, name, value)?,
            "live" => set_in(&mut self.live, name, value)?,
            "counter" => set_in(&mut self.counter, name, value)?,
            "pins" => set_in(&mut self.pins, name, value)?,
            "marks" => set_in(&mut self.marks, name, value)?,
            "proxy" => set_in(&mut self.proxy, name, value)?,
            "select" => set_in(&mut self.select, name, value)?,
            "quality" => set_in(&mut self.quality, name, value)?,
            "summary" => set_in(&mut self.summary, name, value)?,
            "embeddings" => set_in(&mut self.embeddings, name, value)?,
            "lexicon" => set_in(&mut self.lexicon, name, value)?,
            "chains" => {
                let chain: Vec<String> = SettingType::from_value(value)?;
                self.chains.insert(name.to_owned(), chain);
            }
            "strategies" => {
                let (strategy, setting) =
                    name.split_once('.').ok_or("takes a table of settings, such as [strategies.sliding-window]")?;
                self.strategies.entry(strategy.to_owned()).or_default().insert(setting.to_owned(), value.clone());
            }
            "models" => set_in_named(&mut self.models, name, value)?,
            "channels" => set_in_named(&mut self.channels, name, value)?,
            "agents" => set_in_named(&mut self.agents, name, value)?,
            _ => return Err("is no key".to_owned()),
        }
        self.sources.insert(key.to_owned(), source);
        Ok(())
    }

    /// Removes a table of a kind, with what is known of its keys.
    pub(crate) fn remove_named(&mut self, section: &Section, name: &str) {
        let was_there = match section.name {
            "models" => self.models.remove(name).is_some(),
            "channels" => self.channels.remove(name).is_some(),
            "agents" => self.agents.remove(name).is_some(),
            _ => false,
        };
        if was_there {
            let table = format!("{}.{name}", section.name);
            self.sources.remove(&table);
            for field in section.fields {
                self.sources.remove(&format!("{table}.{}", field.name));
            }
        }
    }

    /// Adds a table of a kind, with nothing set in it.
    pub(crate) fn add_named(&mut self, section: &str, name: &str) {
        match section {
            "models" => drop(self.models.entry(name.to_owned()).or_default()),
            "channels" => drop(self.channels.entry(name.to_owned()).or_default()),
            "agents" => drop(self.agents.entry(name.to_owned()).or_default()),
            _ => {}
        }
    }

    /// Notes where a file names something that is no key of its own, such as an element of a list.
    pub(crate) fn note(&mut self, key: String, place: Place) {
        self.sources.insert(key, Source::File(place));
    }

    /// Who set a value.
    pub(crate) fn set_by(&self, key: &str) -> Source {
        self.sources.get(key).cloned().unwrap_or(Source::Default)
    }

    /// Notes who set a value.
    pub(crate) fn note_source(&mut self, key: &str, source: Source) {
        self.sources.insert(key.to_owned(), source);
    }

    /// The agent that this is the configuration of, see [`for_agent`](Self::for_agent).
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The place of an item of a list in the file, or that of the whole list.
    pub(crate) fn place_of_item(&self, key: &str, index: usize) -> Option<Place> {
        self.place(&format!("{key}[{index}]")).or_else(|| self.place(key))
    }

    /// The place of a key in the file that set it.
    pub(crate) fn place(&self, key: &str) -> Option<Place> {
        match self.sources.get(key) {
            Some(Source::File(place)) => Some(place.clone()),
            Some(_) | None => None,
        }
    }

    /// The presets in force, in the order in which they were applied.
    pub fn presets(&self) -> &[Preset] {
        &self.presets
    }
}

fn set_in(table: &mut impl SettingsTable, name: &str, value: &Value) -> Result<(), String> {
    table.set(name, value).map_err(|error| error.problem)
}

/// Sets a value of one of several tables of a kind; `name` is the table's name and the key.
fn set_in_named<T: SettingsTable>(tables: &mut BTreeMap<String, T>, name: &str, value: &Value) -> Result<(), String> {
    let (table, key) = name.rsplit_once('.').ok_or("takes a table of settings with a name of its own")?;
    set_in(tables.entry(table.to_owned()).or_default(), key, value)
}
