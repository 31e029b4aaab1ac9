//! Tables that a program adds to a configuration, with the checks of those in a file.

use epitome_strategy::{Field, Registry, SettingsTable, Value};
use serde_json::Map;

use crate::channels;
use crate::check::{of_one, problems_of_agent};
use crate::config::Config;
use crate::error::{ConfigErrors, Problem};
use crate::named::AgentTable;
use crate::sections::{NAMED, Section};
use crate::source::Source;

impl Config {
    /// The configuration with one more agent, in place of the one of that name where there is one; `settings` are keys of
    /// `[agents.NAME]`. Linear in the configuration.
    ///
    /// # Errors
    ///
    /// Every problem that reading a file with this table would find.
    pub fn with_agent(
        &self,
        name: &str,
        settings: &Map<String, Value>,
        registry: &Registry,
    ) -> Result<Self, ConfigErrors> {
        let (config, mut problems) = self.with_table("agents", name, settings);
        if problems.is_empty() {
            problems = problems_of_agent(&config, name, registry, &of_one(&config, registry));
        }
        ConfigErrors::check(problems)?;
        Ok(config)
    }

    /// The configuration with one more channel, in place of the one of that name where there is one; `settings` are keys of
    /// `[channels.NAME]`. Linear in the configuration.
    ///
    /// # Errors
    ///
    /// Every problem of the table itself. Whether the choice among the channels is clear is found by [`build`](Self::build),
    /// for an agent may be what makes it.
    pub fn with_channel(&self, name: &str, settings: &Map<String, Value>) -> Result<Self, ConfigErrors> {
        self.with_channels([(name, settings)])
    }

    /// The configuration with several more channels, as [`with_channel`](Self::with_channel) adds one; their names and
    /// settings. Linear in the configuration and in the added channels.
    ///
    /// # Errors
    ///
    /// Every problem of each of the tables.
    pub fn with_channels<'a>(
        &self,
        channels: impl IntoIterator<Item = (&'a str, &'a Map<String, Value>)>,
    ) -> Result<Self, ConfigErrors> {
        let mut config = self.clone();
        let mut problems = Vec::new();
        for (name, settings) in channels {
            problems.extend(config.set_table("channels", name, settings));
            problems.extend(channels::problem_of(&config, name));
        }
        ConfigErrors::check(problems)?;
        Ok(config)
    }

    /// The configuration with some of the keys of `[agents.NAME]` over it, as one session's own settings override those
    /// of its agent. Linear in the configuration.
    ///
    /// # Errors
    ///
    /// Every problem that reading them as an agent's table would find.
    pub fn adjusted(&self, settings: &Map<String, Value>, registry: &Registry) -> Result<Self, ConfigErrors> {
        /// The table's name in messages about a problem; it is not stored.
        const NAME: &str = "NAME";
        let (read, problems) = Self::default().with_table("agents", NAME, settings);
        ConfigErrors::check(problems)?;
        let mut config = self.clone();
        if let Some(table) = read.tables.agents.get(NAME) {
            config.take(table, |key| if settings.contains_key(key) { Source::Given } else { Source::Default });
        }
        self.with_changes(config, registry)
    }

    /// Returns `config`, which differs from this configuration in some keys; the error has the problems that it alone has.
    pub(crate) fn with_changes(&self, config: Self, registry: &Registry) -> Result<Self, ConfigErrors> {
        let known = of_one(self, registry);
        let mut problems = of_one(&config, registry);
        problems.retain(|problem| !known.contains(problem));
        ConfigErrors::check(problems)?;
        Ok(config)
    }

    /// The configuration with a table of one of [`NAMED`], and the problems of its keys.
    fn with_table(&self, section: &str, name: &str, settings: &Map<String, Value>) -> (Self, Vec<Problem>) {
        let mut config = self.clone();
        let problems = config.set_table(section, name, settings);
        (config, problems)
    }

    /// Puts a table of one of [`NAMED`] in place of the one of that name; the problems of its keys.
    fn set_table(&mut self, section: &str, name: &str, settings: &Map<String, Value>) -> Vec<Problem> {
        let Some(declared) = NAMED.iter().find(|declared| declared.name == section) else {
            return Vec::new();
        };
        self.remove_named(declared, name);
        self.tables.add(section, name);
        settings.iter().filter_map(|(key, value)| set(self, declared, name, key, value)).collect()
    }

    /// The keys that an agent's table sets, as it sets them; empty where the agent does not exist.
    pub fn agent_settings(&self, name: &str) -> Map<String, Value> {
        let Some(table) = self.tables.agents.get(name) else { return Map::new() };
        let is_set = |key: &&Field| self.source(&format!("agents.{name}.{}", key.name)) != Source::Default;
        let fields = AgentTable::FIELDS.iter().filter(is_set);
        fields.filter_map(|field| Some((field.name.to_owned(), table.get(field.name)?))).collect()
    }
}

/// Sets one key of a table; its problem.
fn set(config: &mut Config, declared: &Section, name: &str, key: &str, value: &Value) -> Option<Problem> {
    if let Some(problem) = declared.unknown_key(name, key) {
        return Some(problem);
    }
    let assigned = config.assign(&format!("{}.{name}.{key}", declared.name), value, Source::Given);
    assigned.err().map(|problem| Problem::new(None, format!("`{key}` {problem}")))
}
