//! The configuration as plain data: effective values, and where each came from.

use std::collections::BTreeMap;
use std::fmt;

use epitome_engine::{Budget, Threshold};
use epitome_strategy::{Field, Registration, Registry, SettingType, SettingsTable, TaskKind, Value};

use crate::agents::{AgentTable, NEVER};
use crate::channels::ChannelTable;
use crate::check;
use crate::error::{ConfigErrors, Place};
use crate::keys::{Section, keys};
use crate::live::{LiveTable, TriggersTable};
use crate::models::{ModelLimits, ModelTable, Models, UnknownModel};
use crate::preset::Preset;
use crate::read;
use crate::tables::{
    BudgetTable, CounterTable, EmbeddingsTable, LexiconTable, MarksTable, PinsTable, ProxyTable, QualityTable,
    SelectTable, SummaryTable,
};
use crate::values::Limit;

/// The setting by which strategies bound their summaries.
pub(crate) const MAX_SUMMARY_TOKENS: &str = "max_summary_tokens";

/// Where an effective value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nothing set it.
    Default,
    /// The preset did.
    Preset(Preset),
    /// A file did.
    File(Place),
    /// The program did, by [`Config::set`].
    Host,
    /// A table that the program added did: [`Config::with_agent`], [`Config::with_channel`], [`Config::adjusted`].
    Given,
    /// It is what is known of the model that `[budget] model` names.
    Model(String),
    /// The preset asks for a model to write summaries, and no channel may be used for it.
    NoChannel(Preset),
    /// It is the default where a model writes the summaries.
    Llm,
    /// It is the default of an agent.
    Agent,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Preset(preset) => write!(formatter, "preset {preset}"),
            Self::File(place) => place.fmt(formatter),
            Self::Host => formatter.write_str("set by the program"),
            Self::Given => formatter.write_str("a table that the program added"),
            Self::Model(name) => write!(formatter, "model {name}"),
            Self::NoChannel(preset) => write!(formatter, "preset {preset} asks for `llm`, and there is no channel"),
            Self::Agent => formatter.write_str("default of agents"),
            Self::Llm => formatter.write_str("default where a model writes summaries"),
        }
    }
}

/// One effective value.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The key with its section, such as `budget.window`.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub source: Source,
}

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
    sources: BTreeMap<String, Source>,
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

/// The chain that ships for a kind of task.
///
/// Work with tools: the exact lines likeliest needed stay, and the newest steps; where there is too little in front of
/// those to extract from, what stands elsewhere in the context leaves, then what is cheapest to fetch again, then prose.
/// Conversations have few exact strings: what bears on the question stays where one is asked, else the newest.
/// `docs/evaluation.md` has the figures behind the order.
pub(crate) fn default_chain(kind: TaskKind) -> &'static [&'static str] {
    match kind {
        TaskKind::Code | TaskKind::Analysis | TaskKind::Mixed | TaskKind::Unknown => {
            &["transcript", "tool-results", "message-truncation", "sliding-window"]
        }
        TaskKind::Conversation => {
            &["vector-retrieval", "transcript", "tool-results", "message-truncation", "sliding-window"]
        }
    }
}

/// The chain that ships for every kind of task where a model writes the summaries.
///
/// The hand-off first, which tells of the whole session and replaces little of it; what room is left beside it and the
/// newest messages is the transcript's, as without a model. What bears on a question is what the hand-off is asked for.
pub(crate) fn default_llm_chain() -> &'static [&'static str] {
    &["handoff", "transcript", "tool-results", "message-truncation", "sliding-window"]
}

impl Config {
    /// Reads a file's text: defaults, then its preset, then its keys. `file` is what problems call the file. Every problem
    /// at once, those with what `registry` knows included. Linear in the text.
    pub fn parse(text: &str, file: &str, registry: &Registry) -> Result<Self, ConfigErrors> {
        let (config, mut problems) = read::read(text, file);
        problems.extend(check::check(&config, registry));
        ConfigErrors::check(problems)?;
        Ok(config)
    }

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

    /// Where an effective value comes from; `key` is spelt with its section.
    pub fn source(&self, key: &str) -> Source {
        let set = self.set_by(key);
        match (key, set) {
            ("budget.window", _) if self.window_of_model().is_some() => Source::Model(self.budget.model.clone()),
            ("budget.reserve_output", set) => match self.window_of_model() {
                Some(limits) if limits.reserve_output.is_some() || set == Source::Default => {
                    Source::Model(self.budget.model.clone())
                }
                Some(_) | None => set,
            },
            ("summary.summarizer", Source::Preset(preset)) if self.summarizer() != self.summary.summarizer => {
                Source::NoChannel(preset)
            }
            (key, Source::Default) if self.is_llm_chain(key) => Source::Llm,
            (_, set) => set,
        }
    }

    /// The chain of that name that is in force: a default one is another where a model writes the summaries.
    pub(crate) fn chain(&self, name: &str) -> Option<Vec<String>> {
        let kind = TaskKind::ALL.into_iter().find(|kind| kind.as_str() == name);
        match kind.filter(|_| self.source(&format!("chains.{name}")) == Source::Llm) {
            Some(_) => Some(default_llm_chain().iter().map(ToString::to_string).collect()),
            None => self.chains.get(name).cloned(),
        }
    }

    /// Whether a key is that of a kind's chain, and a model writes the summaries.
    fn is_llm_chain(&self, key: &str) -> bool {
        let name = key.strip_prefix("chains.");
        name.is_some_and(|name| TaskKind::ALL.iter().any(|kind| kind.as_str() == name))
            && self.summarizer().asks_model()
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

    /// What is known of models: the table that ships, and `[models]` over it.
    pub fn models(&self) -> Models {
        Models::with(&self.models)
    }

    /// What is known of the model that `[budget] model` names, where one is named. Errors where that is nothing, and the
    /// window is not set beside it either.
    pub(crate) fn model_limits(&self) -> Result<Option<ModelLimits>, UnknownModel> {
        if self.budget.model.is_empty() {
            return Ok(None);
        }
        match self.models().limits(&self.budget.model) {
            Err(_) if !self.model_decides("budget.window") => Ok(None),
            known => known.map(Some),
        }
    }

    /// What is known of the model, where that decides about the window.
    fn window_of_model(&self) -> Option<ModelLimits> {
        let limits = self.model_limits().ok().flatten()?;
        self.model_decides("budget.window").then_some(limits)
    }

    /// Whether what is known of the model stands over what set a key: the later layer wins, and the key in one layer.
    fn model_decides(&self, key: &str) -> bool {
        let layer = |source: Source| match source {
            Source::Default | Source::Llm | Source::Agent => 0,
            Source::Preset(_) | Source::NoChannel(_) => 1,
            Source::Model(_) | Source::File(_) | Source::Given => 2,
            Source::Host => 3,
        };
        layer(self.set_by(key)) < layer(self.set_by("budget.model"))
    }

    /// Takes back what the file, or a host's table, says of window and reserve.
    pub(crate) fn forget_window(&mut self) {
        let default = BudgetTable::default();
        for (key, value) in [("window", default.window), ("reserve_output", default.reserve_output)] {
            if matches!(self.set_by(&format!("budget.{key}")), Source::File(_) | Source::Given) {
                self.sources.remove(&format!("budget.{key}"));
                let reset = self.budget.set(key, &value.into());
                debug_assert_eq!(reset, Ok(()), "{key}");
            }
        }
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

    /// The budget; tool definitions are the session's and not counted in yet.
    pub fn budget(&self) -> Budget {
        let BudgetTable { model: _, window: _, reserve_output: _, soft, hard, target } = self.budget.clone();
        let threshold = |limit: Limit| if self.never_compacts { NEVER } else { limit.0 };
        Budget {
            window: self.window(),
            reserve_output: self.reserve_output(),
            tool_definitions: 0,
            soft: threshold(soft),
            hard: threshold(hard),
            target: target.0,
        }
    }

    fn window(&self) -> u32 {
        self.window_of_model().map_or(self.budget.window, |limits| limits.window)
    }

    /// The reserve that file, preset or program set.
    pub(crate) fn configured_reserve(&self) -> Option<u32> {
        (self.set_by("budget.reserve_output") != Source::Default).then_some(self.budget.reserve_output)
    }

    /// The reserve for the answer. The default is made for large windows: in a small one it is a quarter.
    fn reserve_output(&self) -> u32 {
        let configured = self.configured_reserve();
        let limits = match self.window_of_model() {
            // A reserve that is set in the file stands over what the model's table says.
            Some(limits) if self.model_decides("budget.reserve_output") => limits,
            Some(limits) => ModelLimits { reserve_output: None, ..limits },
            None => ModelLimits { window: self.budget.window, ..ModelLimits::default() },
        };
        limits.reserve(configured)
    }

    /// Every effective value, in the order of the template: what is really in force, for a person to see.
    pub fn effective(&self, registry: &Registry) -> Vec<Effective> {
        let registry = &self.registry(registry);
        let entry = |key: String, value: Value| Effective { source: self.source(&key), key, value };
        let fixed = keys().filter_map(|key| {
            let value = self.value(key.section, key.field.name)?;
            Some(entry(format!("{}.{}", key.section, key.field.name), value))
        });
        let chains =
            self.chains.keys().filter_map(|name| Some(entry(format!("chains.{name}"), self.chain(name)?.into())));
        let settings = registry.iter().flat_map(|registration| {
            let id = registration.meta.id;
            let settings = self.settings(registration);
            registration.fields.iter().map(move |field| {
                let key = format!("strategies.{id}.{}", field.name);
                let value = settings.get(field.name).cloned().unwrap_or_else(field.default);
                match self.source(&key) {
                    Source::Default if field.name == MAX_SUMMARY_TOKENS && self.summary.max_tokens > 0 => {
                        Effective { key, value, source: self.source("summary.max_tokens") }
                    }
                    source => Effective { key, value, source },
                }
            })
        });
        fixed.chain(chains).chain(settings).chain(self.effective_named()).collect()
    }

    /// What is set of models, channels and agents.
    fn effective_named(&self) -> Vec<Effective> {
        fn tables<'a, T: SettingsTable>(section: &str, tables: &'a BTreeMap<String, T>) -> Vec<(String, Value)> {
            let keys = |(name, table): (&'a String, &'a T)| {
                let key = |field: &Field| Some((format!("{section}.{name}.{}", field.name), table.get(field.name)?));
                T::FIELDS.iter().filter_map(key).collect::<Vec<_>>()
            };
            tables.iter().flat_map(keys).collect()
        }
        let all = tables("models", &self.models)
            .into_iter()
            .chain(tables("channels", &self.channels))
            .chain(tables("agents", &self.agents));
        let entry = |(key, value): (String, Value)| Effective { source: self.source(&key), key, value };
        all.map(entry).filter(|entry| entry.source != Source::Default).collect()
    }

    /// The settings of a strategy that differ from its own defaults; `[summary] max_tokens` among them, where the
    /// strategy has such a setting and no value of its own for it.
    pub(crate) fn settings(&self, registration: &Registration) -> BTreeMap<String, Value> {
        let mut settings = self.strategies.get(registration.meta.id).cloned().unwrap_or_default();
        let bounds = registration.fields.iter().any(|field| field.name == MAX_SUMMARY_TOKENS);
        if bounds && self.summary.max_tokens > 0 {
            settings.entry(MAX_SUMMARY_TOKENS.to_owned()).or_insert_with(|| self.summary.max_tokens.into());
        }
        settings
    }

    fn value(&self, section: &str, name: &str) -> Option<Value> {
        match section {
            "budget" if name == "reserve_output" => Some(self.reserve_output().into()),
            "budget" if name == "window" => Some(self.window().into()),
            "summary" if name == "summarizer" => Some(self.summarizer().to_value()),
            "budget" => self.budget.get(name),
            "triggers" => self.triggers.get(name),
            "live" => self.live.get(name),
            "counter" => self.counter.get(name),
            "pins" => self.pins.get(name),
            "marks" => self.marks.get(name),
            "proxy" => self.proxy.get(name),
            "select" => self.select.get(name),
            "quality" => self.quality.get(name),
            "summary" => self.summary.get(name),
            "embeddings" => self.embeddings.get(name),
            "lexicon" => self.lexicon.get(name),
            _ => None,
        }
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

/// A threshold in words: a share with its tokens, or tokens.
pub(crate) fn describe(threshold: Threshold, usable: u32) -> String {
    match threshold {
        Threshold::Tokens(tokens) => format!("{tokens} tokens"),
        Threshold::Share(share) => format!("{share} of {usable}, {} tokens", threshold.tokens(usable)),
    }
}
