//! The meaning of a method's name.

use epitome::strategy::nearest;
use epitome::{Config, Registry, Runtime};

use crate::EvalError;

/// The names of methods that are neither presets nor chains.
const METHODS: [&str; 3] = ["default", "tournament", "adaptive"];

/// The configuration that `spec` names, and the chain in place of its own: `default`, `tournament`, `adaptive`, a preset,
/// `chain:a+b+c`, a strategy or a chain of the default configuration, `set:KEY=VALUE+KEY=VALUE` for the default with other
/// settings, or `config:FILE`. The error says what would be right.
pub(crate) fn named(spec: &str, registry: &Registry) -> Result<(Config, Option<Vec<String>>), EvalError> {
    let config = match (spec.split_once(':'), spec) {
        (Some(("chain", chain)), _) => {
            return Ok((Config::default(), Some(chain.split('+').map(|name| name.trim().to_owned()).collect())));
        }
        (Some(("config", file)), _) => read_config(file, registry)?,
        (Some(("set", settings)), _) => with_settings(settings, registry)?,
        (Some((kind, _)), _) => {
            let known = "chain:a+b+c, set:KEY=VALUE+KEY=VALUE, config:FILE, baseline:NAME";
            return Err(EvalError::Method(format!("`{kind}:` is not a kind of method; there are {known}")));
        }
        (None, "default") => Config::default(),
        (None, "tournament" | "adaptive") => with_settings(&format!("select.mode={spec}"), registry)?,
        (None, _) => match spec.parse() {
            Ok(preset) => Config::with_preset(preset),
            Err(_) => {
                let chain = vec![spec.to_owned()];
                let checked = build(&Config::default(), registry)?.chain(&chain, registry);
                checked.map_err(|error| match nearest(spec, METHODS) {
                    Some(near) => EvalError::Method(format!("there is no method `{spec}`; did you mean `{near}`?")),
                    None => EvalError::Method(error),
                })?;
                return Ok((Config::default(), Some(chain)));
            }
        },
    };
    Ok((config, None))
}

fn read_config(file: &str, registry: &Registry) -> Result<Config, EvalError> {
    let text = epitome_shelf::read_plain_text(file);
    let text = text.map_err(|error| EvalError::Read { file: file.to_owned(), error })?;
    Config::parse(&text, file, registry).map_err(|errors| EvalError::Config(errors.to_string()))
}

/// Returns the default configuration with settings such as `transcript.tail_share=0.2` or `select.mode=tournament`.
fn with_settings(settings: &str, registry: &Registry) -> Result<Config, EvalError> {
    let mut config = Config::default();
    for setting in settings.split('+') {
        let wrong = |problem: String| EvalError::Method(format!("set: `{setting}` {problem}"));
        let (key, value) = setting.split_once('=').ok_or_else(|| wrong("is not KEY=VALUE".to_owned()))?;
        let (key, value) = (key.trim(), value.trim());
        // `summary` is a strategy and a section: the strategy is meant where it has the setting.
        let is_strategy = key.split_once('.').is_some_and(|(strategy, name)| {
            registry.get(strategy).is_ok_and(|known| known.fields.iter().any(|field| field.name == name))
        });
        let key = if is_strategy { format!("strategies.{key}") } else { key.to_owned() };
        // A value that is not a number, flag or list is a text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        config.set(&key, &value).map_err(wrong)?;
    }
    Ok(config)
}

pub(crate) fn build(config: &Config, registry: &Registry) -> Result<Runtime, EvalError> {
    config.build(registry).map_err(|errors| EvalError::Config(errors.to_string()))
}
