//! The configuration of an engine: a file's text or a dictionary, and keywords over it.

use epitome::Config;
use epitome::strategy::{Registry, Value};

use crate::Failure;
use crate::dispatcher::options::EngineOptions;
use crate::dispatcher::read_options::read_options;

/// The configuration that the options of an engine describe: `config`, or `base` where they have none, with the settings of
/// the environment over it, and `model`, `window` and `reserveOutput` over these. `null` is what the host's language calls a
/// value that is none, for errors.
///
/// # Errors
///
/// Every problem of `config`, or the first of the other options that is wrong.
pub fn engine_config(options: &str, base: Config, null: &str, registry: &Registry) -> Result<Config, Failure> {
    let options: EngineOptions = read_options(options)?;
    let name = options.config_name.as_deref().unwrap_or("config");
    let mut config = match &options.config {
        None => base,
        Some(Value::String(text)) => Config::parse(text, name, registry)?,
        Some(table @ Value::Object(_)) => of_table(table, null, registry)?,
        Some(other) => {
            let problem =
                format!("`config` takes the text of a TOML file, or an object with its sections, not {other}");
            return Err(Failure::config(problem));
        }
    };
    // A browser has no environment.
    #[cfg(not(target_family = "wasm"))]
    {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        config = config.with_environment(variables, registry)?;
    }
    let keywords = [
        ("model", options.model.map(Value::from)),
        ("window", options.window.0.map(Value::from)),
        ("reserve_output", options.reserve_output.0.map(Value::from)),
    ];
    for (name, value) in keywords {
        if let Some(value) = value {
            let set = config.set(&format!("budget.{name}"), &value);
            set.map_err(|problem| Failure::config(format!("`{name}` {problem}")))?;
        }
    }
    Ok(config)
}

/// A dictionary is read as the file that has the same keys: one reader, the same checks. Its places are not the user's, so
/// problems go without them.
fn of_table(table: &Value, null: &str, registry: &Registry) -> Result<Config, Failure> {
    if let Some(path) = path_of_null(table) {
        return Err(Failure::config(format!("config{path}: {null} is not a value; leave the key out")));
    }
    let text = toml::to_string(table).map_err(|error| Failure::config(format!("config: {error}")))?;
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
