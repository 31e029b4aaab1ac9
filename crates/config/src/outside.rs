//! Values from outside the file: the settings of one call, and those of the environment.

use epitome_strategy::{Field, FieldKind, Registry, UnknownName, Value, nearest};
use serde_json::Map;

use crate::check::{check, unknown_strategy};
use crate::config::Config;
use crate::error::{ConfigErrors, Problem};
use crate::external::COMMAND;
use crate::keys::{SecondName, keys, second_names};
use crate::preset::flatten;
use crate::sections::{NAMED, SECTIONS};
use crate::source::Source;

/// The sections, and of some sections the keys, that one call may set: how it compacts. All others name files, programs,
/// services and keys of this machine, or say what a host does around its calls.
const OF_A_CALL: [&str; 16] = [
    "budget",
    "pins",
    "marks",
    "select",
    "quality",
    "chains",
    "strategies",
    "triggers",
    "counter.name",
    "summary.max_tokens",
    "summary.role",
    "summary.form",
    "summary.summarizer",
    "summary.channel",
    "summary.model",
    "summary.fall_back_to_rules",
];

/// What the variables of settings begin with.
const PREFIX: &str = "EPITOME_";

impl Config {
    /// The configuration with the settings of one call over it: keys with their section (`"budget.target": 0.3`), the same as
    /// tables (`"budget": {"target": 0.3}`), or second names (`"keep_recent_messages": 10`). Only what says how to compact can
    /// be set. Linear in the configuration.
    ///
    /// # Errors
    ///
    /// Every key that a call may not set, and every problem that a file with these values would have.
    pub fn for_call(&self, settings: &Map<String, Value>, registry: &Registry) -> Result<Self, ConfigErrors> {
        let mut values = Vec::new();
        settings.iter().for_each(|(name, value)| flatten(name, value, &mut values));
        let mut config = self.clone();
        let set = |(name, value): &(String, Value)| config.set_for_call(name, value, registry).err();
        ConfigErrors::check(values.iter().filter_map(set).collect())?;
        self.with_changes(config, registry)
    }

    fn set_for_call(&mut self, name: &str, value: &Value, registry: &Registry) -> Result<(), Problem> {
        let wrong = |problem: String| Problem::new(None, format!("`{name}` {problem}"));
        // The block in which files take the second names.
        let name = name.strip_prefix("compaction.").unwrap_or(name);
        let second = SecondName::find(name);
        let key = second.map_or(name, |second| second.key);
        let is_of_a_call = |key: &str| {
            let section = key.split('.').next().unwrap_or(key);
            OF_A_CALL.iter().any(|known| *known == section || *known == key)
        };
        if !is_of_a_call(key) {
            let known = second_names().filter(|(_, key)| is_of_a_call(key)).map(|(name, _)| name).chain(OF_A_CALL);
            let help = match nearest(name, known) {
                _ if second.is_some() => format!("`{key}` is set in the configuration"),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}, and second names such as keep_recent_messages", OF_A_CALL.join(", ")),
            };
            return Err(wrong("is not a setting of one call".to_owned()).with_help(help));
        }
        if let Some(id) = key.strip_prefix("strategies.").and_then(|rest| rest.split('.').next())
            && (registry.get(id).is_err() || self.strategies.get(id).is_some_and(|values| values.contains_key(COMMAND)))
        {
            // A strategy in another process is a program: which one runs is the operator's to say.
            return Err(unknown_strategy(id, registry));
        }
        let value = second.map_or_else(|| Ok(value.clone()), |second| second.value(value)).map_err(wrong)?;
        self.set(key, &value).map_err(wrong)
    }

    /// The configuration with the settings of the environment over it, each in a variable: `EPITOME_` and the key with its section
    /// in capitals, `_` for every dot and hyphen (`EPITOME_BUDGET_WINDOW`,
    /// `EPITOME_STRATEGIES_SLIDING_WINDOW_WINDOW`), a second name (`EPITOME_KEEP_RECENT_MESSAGES`), or `EPITOME_PRESET`, which the
    /// file's own keys override. Texts stand as they are, lists with commas between their items or, like all other values, as in
    /// the file. Variables that do not begin like a setting are not looked at, unless they nearly name one. Linear in the
    /// variables.
    ///
    /// # Errors
    ///
    /// Every variable that begins like a setting and names none, or whose value is wrong; every problem that a file with these
    /// values would have.
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
        registry: &Registry,
    ) -> Result<Self, ConfigErrors> {
        let mut variables: Vec<_> = variables.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        variables.sort_unstable();
        let registered = self.registry(registry);
        let known: Vec<Known> = if variables.is_empty() { Vec::new() } else { known(&registered) };
        let mut problems = Vec::new();
        let mut is_changed = false;
        for (variable, text) in &variables {
            match self.set_by_variable(variable, text, &known) {
                Ok(is_set) => is_changed |= is_set,
                Err(problem) => problems.push(problem),
            }
        }
        if is_changed && problems.is_empty() {
            problems = check(&self, registry);
        }
        ConfigErrors::check(problems)?;
        Ok(self)
    }

    /// Sets what a variable says; whether it is one of a setting.
    fn set_by_variable(&mut self, variable: &str, text: &str, known: &[Known]) -> Result<bool, Problem> {
        let wrong = |problem: String| Problem::new(None, format!("{variable}: {problem}"));
        let rest = variable.trim_start_matches(PREFIX).to_lowercase();
        if rest == "preset" {
            for name in text.split(',') {
                self.apply_preset_below(name.trim().parse().map_err(|error: UnknownName| wrong(error.to_string()))?);
            }
            return Ok(true);
        }
        let rest = match rest.strip_prefix("compaction_") {
            Some(second) if SecondName::find(second).is_some() => second.to_owned(),
            _ => rest,
        };
        let fixed = known.iter().find(|known| known.variable == rest).map(|known| (known.key.clone(), known.kind));
        let Some((key, kind)) = fixed.or_else(|| self.key_of_users_table(&rest)) else {
            let unknown = wrong("no setting has this name".to_owned());
            return match nearest(&rest, known.iter().map(|known| known.variable.as_str())) {
                Some(near) => Err(unknown.with_help(format!("did you mean {PREFIX}{}?", near.to_uppercase()))),
                None if begins_like_a_setting(&rest) => {
                    Err(unknown.with_help("the variable of `window` in [budget], for one, is EPITOME_BUDGET_WINDOW"))
                }
                None => Ok(false),
            };
        };
        let source = Source::Environment(variable.to_owned());
        let assigned = value_of(text, kind).and_then(|value| match SecondName::find(&key) {
            Some(second) => self.assign(second.key, &second.value(&value)?, source),
            None => self.assign(&key, &value, source),
        });
        assigned.map(|()| true).map_err(|problem| wrong(format!("`{key}` {problem}")))
    }

    /// The key in a table with a name of the user's, or of a chain. A name that the file does not have is taken with hyphens.
    fn key_of_users_table(&self, rest: &str) -> Option<(String, FieldKind)> {
        let spelt = |names: Vec<&str>, name: &str| {
            let known = names.into_iter().find(|known| in_variable(known) == name);
            known.map_or_else(|| name.replace('_', "-"), str::to_owned)
        };
        if let Some(name) = rest.strip_prefix("chains_") {
            let name = spelt(self.chains.keys().map(String::as_str).collect(), name);
            return Some((format!("chains.{name}"), FieldKind::List));
        }
        let section = NAMED.iter().find(|section| rest.starts_with(&format!("{}_", section.name)))?;
        let name = &rest[section.name.len() + 1..];
        let fits =
            |field: &&Field| name.strip_suffix(field.name).is_some_and(|table| table.len() > 1 && table.ends_with('_'));
        let field = section.fields.iter().filter(fits).max_by_key(|field| field.name.len())?;
        let table = name.strip_suffix(field.name)?.trim_end_matches('_');
        let table = match section.name {
            "models" => spelt(self.tables.models.keys().map(String::as_str).collect(), table),
            "channels" => spelt(self.channels().collect(), table),
            _ => spelt(self.agents().collect(), table),
        };
        Some((format!("{}.{table}.{}", section.name, field.name), field.kind))
    }
}

/// A setting with a fixed name.
struct Known {
    /// Its variable in small letters, without [`PREFIX`].
    variable: String,
    /// Its key with its section, or a second name.
    key: String,
    kind: FieldKind,
}

/// Every setting with a fixed name, the second names included.
fn known(registry: &Registry) -> Vec<Known> {
    let fixed = keys().map(|key| (format!("{}.{}", key.section, key.field.name), key.field.kind));
    let second = second_names().map(|(name, _)| (name.to_owned(), FieldKind::Number));
    let strategies = registry.iter().flat_map(|registration| {
        let key = |field: &Field| (format!("strategies.{}.{}", registration.meta.id, field.name), field.kind);
        registration.fields.iter().map(key)
    });
    let all = fixed.chain(second).chain(strategies);
    all.map(|(key, kind)| Known { variable: in_variable(&key), key, kind }).collect()
}

/// A key as it stands in a variable, in small letters.
fn in_variable(key: &str) -> String {
    key.to_lowercase().replace(['.', '-'], "_")
}

fn begins_like_a_setting(rest: &str) -> bool {
    let sections =
        SECTIONS.iter().chain(NAMED).map(|section| section.name).chain(["chains", "compaction", "strategies"]);
    sections.into_iter().any(|section| rest.strip_prefix(section).is_some_and(|rest| rest.starts_with('_')))
}

/// The value of a setting of that kind that a variable's text says.
fn value_of(text: &str, kind: FieldKind) -> Result<Value, String> {
    let text = text.trim();
    match kind {
        FieldKind::Text => Ok(text.into()),
        FieldKind::List if !text.starts_with('[') => {
            Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect())
        }
        FieldKind::Integer | FieldKind::Number | FieldKind::Flag | FieldKind::List => {
            let line = format!("value = {text}");
            let table: Option<Map<String, Value>> = toml::from_str(&line).ok();
            table.and_then(|mut table| table.remove("value")).ok_or_else(|| format!("cannot be {text:?}"))
        }
    }
}
