//! The configuration of an engine: a file's text or a dictionary, and keywords over it.

use epitome::Config;
use epitome::strategy::{Registry, Value};

use crate::Failure;

/// Where a configuration comes from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// The defaults.
    Nothing,
    /// A file.
    Text {
        /// TOML.
        text: &'a str,
        /// What errors call it.
        name: &'a str,
    },
    /// A table with the sections and keys of the file.
    Table {
        /// The table as JSON.
        json: &'a [u8],
        /// What the host's language calls a value that is none, for errors.
        null: &'static str,
    },
}

/// The configuration of `source`, with the settings of the environment over it, and `keywords` (keys with their section, such
/// as `budget.model`) over these.
///
/// # Errors
///
/// Every problem of the source, or the first keyword that is wrong.
pub fn config_of(
    source: Source<'_>,
    keywords: &[(&'static str, Option<Value>)],
    registry: &Registry,
) -> Result<Config, Failure> {
    let mut config = match source {
        Source::Nothing => Config::default(),
        Source::Text { text, name } => Config::parse(text, name, registry)?,
        Source::Table { json, null } => of_table(json, null, registry)?,
    };
    // A browser has no environment.
    #[cfg(not(target_family = "wasm"))]
    {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        config = config.with_environment(variables, registry)?;
    }
    for (key, value) in keywords {
        if let Some(value) = value {
            let name = key.rsplit('.').next().unwrap_or(key);
            config.set(key, value).map_err(|problem| Failure::config(format!("`{name}` {problem}")))?;
        }
    }
    Ok(config)
}

/// A dictionary is read as the file that has the same keys: one reader, the same checks. Its places are not the user's, so
/// problems go without them.
fn of_table(json: &[u8], null: &str, registry: &Registry) -> Result<Config, Failure> {
    let table: Value = serde_json::from_slice(json).map_err(|error| Failure::config(error.to_string()))?;
    if let Some(path) = path_of_null(&table) {
        return Err(Failure::config(format!("config{path}: {null} is not a value; leave the key out")));
    }
    let text = toml::to_string(&table).map_err(|error| Failure::config(format!("config: {error}")))?;
    Config::parse(&text, "config", registry).map_err(|errors| Failure::Config {
        problems: errors
            .problems()
            .iter()
            .map(|problem| {
                let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
                format!("config: {}{help}", problem.message)
            })
            .collect(),
    })
}

/// The way to the first value that is null.
fn path_of_null(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Object(entries) => {
            entries.iter().find_map(|(key, value)| path_of_null(value).map(|rest| format!(".{key}{rest}")))
        }
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| path_of_null(item).map(|rest| format!("[{index}]{rest}")))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
