//! The configuration as plain data: effective values, and where each came from.

use std::collections::BTreeMap;
use std::fmt;

use epitome_engine::{Budget, Threshold};
use epitome_strategy::{Registration, Registry, SettingType, SettingsTable, TaskKind, Value};

use crate::check;
use crate::error::{ConfigErrors, Place};
use crate::keys::keys;
use crate::preset::Preset;
use crate::read;
use crate::tables::{BudgetTable, CounterTable, EmbeddingsTable, LexiconTable, PinsTable, SelectTable, SummaryTable};

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
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Preset(preset) => write!(formatter, "preset {preset}"),
            Self::File(place) => place.fmt(formatter),
            Self::Host => formatter.write_str("set by the program"),
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
    pub(crate) counter: CounterTable,
    pub(crate) pins: PinsTable,
    pub(crate) select: SelectTable,
    pub(crate) summary: SummaryTable,
    pub(crate) embeddings: EmbeddingsTable,
    pub(crate) lexicon: LexiconTable,
    pub(crate) chains: BTreeMap<String, Vec<String>>,
    /// Settings that differ from the strategies' own defaults.
    pub(crate) strategies: BTreeMap<String, BTreeMap<String, Value>>,
    sources: BTreeMap<String, Source>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            presets: Vec::new(),
            budget: BudgetTable::default(),
            counter: CounterTable::default(),
            pins: PinsTable::default(),
            select: SelectTable::default(),
            summary: SummaryTable::default(),
            embeddings: EmbeddingsTable::default(),
            lexicon: LexiconTable::default(),
            chains: TaskKind::ALL
                .into_iter()
                .map(|kind| (kind.as_str().to_owned(), default_chain(kind).iter().map(ToString::to_string).collect()))
                .collect(),
            strategies: BTreeMap::new(),
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
            &["structured-extraction", "superseded-reads", "tool-results", "message-truncation", "sliding-window"]
        }
        TaskKind::Conversation => &["vector-retrieval", "sliding-window", "tool-results", "message-truncation"],
    }
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
            "counter" => set_in(&mut self.counter, name, value)?,
            "pins" => set_in(&mut self.pins, name, value)?,
            "select" => set_in(&mut self.select, name, value)?,
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
            _ => return Err("is no key".to_owned()),
        }
        self.sources.insert(key.to_owned(), source);
        Ok(())
    }

    /// Notes where a file names something that is no key of its own, such as an element of a list.
    pub(crate) fn note(&mut self, key: String, place: Place) {
        self.sources.insert(key, Source::File(place));
    }

    /// Where a value comes from; `key` is spelt with its section.
    pub fn source(&self, key: &str) -> Source {
        self.sources.get(key).cloned().unwrap_or(Source::Default)
    }

    /// The place of an item of a list in the file, or that of the whole list.
    pub(crate) fn place_of_item(&self, key: &str, index: usize) -> Option<Place> {
        self.place(&format!("{key}[{index}]")).or_else(|| self.place(key))
    }

    /// The place of a key in the file that set it.
    pub(crate) fn place(&self, key: &str) -> Option<Place> {
        match self.sources.get(key) {
            Some(Source::File(place)) => Some(place.clone()),
            Some(Source::Default | Source::Preset(_) | Source::Host) | None => None,
        }
    }

    /// The presets in force, in the order in which they were applied.
    pub fn presets(&self) -> &[Preset] {
        &self.presets
    }

    /// The budget; tool definitions are the session's and not counted in yet.
    pub fn budget(&self) -> Budget {
        let BudgetTable { window, reserve_output: _, soft, hard, target } = self.budget.clone();
        Budget {
            window,
            reserve_output: self.reserve_output(),
            tool_definitions: 0,
            soft: soft.0,
            hard: hard.0,
            target: target.0,
        }
    }

    /// The reserve for the answer. The default is made for large windows: in a small one it is a quarter.
    fn reserve_output(&self) -> u32 {
        match self.source("budget.reserve_output") {
            Source::Default => self.budget.reserve_output.min(self.budget.window / 4),
            Source::Preset(_) | Source::File(_) | Source::Host => self.budget.reserve_output,
        }
    }

    /// Every effective value, in the order of the template: what is really in force, for a person to see.
    pub fn effective(&self, registry: &Registry) -> Vec<Effective> {
        let registry = &self.registry(registry);
        let entry = |key: String, value: Value| Effective { source: self.source(&key), key, value };
        let fixed = keys().filter_map(|key| {
            let value = self.value(key.section, key.field.name)?;
            Some(entry(format!("{}.{}", key.section, key.field.name), value))
        });
        let chains = self.chains.iter().map(|(name, chain)| entry(format!("chains.{name}"), chain.as_slice().into()));
        let settings = registry.iter().flat_map(|registration| {
            let id = registration.meta.id;
            let settings = self.settings(registration);
            registration.fields.iter().map(move |field| {
                let key = format!("strategies.{id}.{}", field.name);
                let value = settings.get(field.name).cloned().unwrap_or_else(field.default);
                match self.source(&key) {
                    Source::Default if field.name == MAX_SUMMARY_TOKENS => {
                        Effective { key, value, source: self.source("summary.max_tokens") }
                    }
                    source => Effective { key, value, source },
                }
            })
        });
        fixed.chain(chains).chain(settings).collect()
    }

    /// The settings of a strategy that differ from its own defaults; `[summary] max_tokens` among them, where the
    /// strategy has such a setting and no value of its own for it.
    pub(crate) fn settings(&self, registration: &Registration) -> BTreeMap<String, Value> {
        let mut settings = self.strategies.get(registration.meta.id).cloned().unwrap_or_default();
        if registration.fields.iter().any(|field| field.name == MAX_SUMMARY_TOKENS) {
            settings.entry(MAX_SUMMARY_TOKENS.to_owned()).or_insert_with(|| self.summary.max_tokens.into());
        }
        settings
    }

    fn value(&self, section: &str, name: &str) -> Option<Value> {
        match section {
            "budget" if name == "reserve_output" => Some(self.reserve_output().into()),
            "budget" => self.budget.get(name),
            "counter" => self.counter.get(name),
            "pins" => self.pins.get(name),
            "select" => self.select.get(name),
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

/// A threshold in words: a share with its tokens, or tokens.
pub(crate) fn describe(threshold: Threshold, usable: u32) -> String {
    match threshold {
        Threshold::Tokens(tokens) => format!("{tokens} tokens"),
        Threshold::Share(share) => format!("{share} of {usable}, {} tokens", threshold.tokens(usable)),
    }
}
