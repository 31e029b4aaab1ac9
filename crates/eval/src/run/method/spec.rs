//! The meaning of a method's name.

use epitome::engine::{Chain, Engine, Mode};
use epitome::strategy::nearest;
use epitome::{Config, Registry, Runtime};

use super::MethodKind;
use super::engine::EngineMethod;
use crate::EvalError;

/// The names of methods that are neither presets nor chains.
const METHODS: [&str; 3] = ["default", "tournament", "adaptive"];

pub(super) fn bare(spec: &str, registry: &Registry) -> Result<MethodKind, EvalError> {
    match (spec, spec.parse()) {
        ("default", _) => of_config(&Config::default(), registry),
        ("tournament" | "adaptive", _) => {
            of_config(&with_settings(&format!("select.mode={spec}"), registry)?, registry)
        }
        (_, Ok(preset)) => of_config(&Config::with_preset(preset), registry),
        (_, Err(_)) => named_chain(&[spec], registry).map_err(|error| match nearest(spec, METHODS) {
            Some(near) => EvalError::Method(format!("there is no method `{spec}`; did you mean `{near}`?")),
            None => error,
        }),
    }
}

pub(crate) fn read_config(file: &str, registry: &Registry) -> Result<Config, EvalError> {
    let text = epitome_shelf::read_plain_text(file);
    let text = text.map_err(|error| EvalError::Read { file: file.to_owned(), error })?;
    Config::parse(&text, file, registry).map_err(|errors| EvalError::Config(errors.to_string()))
}

/// Returns the default configuration with settings such as `transcript.tail_share=0.2` or `select.mode=tournament`.
pub(super) fn with_settings(settings: &str, registry: &Registry) -> Result<Config, EvalError> {
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

pub(super) fn of_config(config: &Config, registry: &Registry) -> Result<MethodKind, EvalError> {
    let runtime = build(config, registry)?;
    let engine = epitome::engine_of(&runtime);
    Ok(MethodKind::Engine(Box::new(EngineMethod { engine, mode: runtime.mode, chain: runtime.fixed })))
}

pub(super) fn fixed_chain(runtime: &Runtime, names: &[String], registry: &Registry) -> Result<Chain, EvalError> {
    runtime.chain(names, registry).map_err(EvalError::Method)
}

pub(super) fn named_chain(names: &[&str], registry: &Registry) -> Result<MethodKind, EvalError> {
    let runtime = build(&Config::default(), registry)?;
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let chain = fixed_chain(&runtime, &names, registry)?;
    // Strategies are compared by what they choose themselves.
    let engine = Engine { refill: false, tells_state: false, ..epitome::engine_of(&runtime) };
    Ok(MethodKind::Engine(Box::new(EngineMethod { engine, mode: Mode::Fixed, chain: Some(chain) })))
}
