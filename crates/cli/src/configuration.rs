//! The configuration of a command, and what it builds.

use std::path::Path;

use epitome::config::{Config, ConfigErrors, Problem, Runtime};
use epitome::strategy::Registry;

use crate::args::ConfigArgs;
use crate::failure::Failure;
#[cfg(feature = "service")]
use crate::folders;
use crate::paths::display_name;
use crate::render::text::plural;
use crate::session::input::bytes;

/// The configuration in force: the file's, or the defaults; that of the agent where one is named.
pub(crate) fn read_for_agent(args: &ConfigArgs, registry: &Registry) -> Result<Config, Failure> {
    let config = read(args.config.as_deref(), registry)?;
    let Some(agent) = &args.agent else { return Ok(config) };
    if args.config.is_none() {
        let failure = Failure::usage_text(format!("--agent {agent}: there is no configuration that has the agent"));
        return Err(failure.with_help(
            "--agent takes the settings of [agents] in a configuration: --config FILE names that; whose session it is, is read \
             from the session",
        ));
    }
    config.for_agent(agent).map_err(|problem| Failure::usage_text(format!("--agent: {problem}")))
}

/// The configuration of what an agent calls: that of the person's own file, `epitome/epitome.toml` in the folder of settings,
/// where it is there.
#[cfg(feature = "service")]
pub(crate) fn read_for_plugin(registry: &Registry) -> Result<Config, Failure> {
    let file = folders::settings().map(|folder| folder.join("epitome/epitome.toml"));
    read(file.filter(|file| file.exists()).as_deref(), registry)
}

/// The configuration in force: the file's, or the defaults, and the settings of the environment over it.
pub(crate) fn read(file: Option<&Path>, registry: &Registry) -> Result<Config, Failure> {
    let config = match file {
        Some(file) => read_file(file, registry)?,
        None => Config::default(),
    };
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    config.with_environment(variables, registry).map_err(|errors| refused(&errors))
}

fn read_file(file: &Path, registry: &Registry) -> Result<Config, Failure> {
    let bytes = bytes(file)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage_text(format!("cannot read {}: byte {at} is not UTF-8", display_name(file)))
    })?;
    Config::parse(&text, &file.display().to_string(), registry).map_err(|errors| refused(&errors))
}

/// The runtime of a configuration, for work that asks no model: it needs no key.
pub(crate) fn build_without_model(mut config: Config, registry: &Registry) -> Result<Runtime, Failure> {
    if config.summarizer().asks_model() {
        config.set("summary.summarizer", &"rules".into()).map_err(Failure::usage_text)?;
    }
    build(&config, registry)
}

/// The runtime of a configuration.
pub(crate) fn build(config: &Config, registry: &Registry) -> Result<Runtime, Failure> {
    config.build(registry).map_err(|errors| refused(&errors))
}

fn refused(errors: &ConfigErrors) -> Failure {
    // One that no file has comes from an option or a default.
    if let [Problem { place: None, message, help }] = errors.problems() {
        let failure = Failure::usage_text(message.clone());
        return match help {
            Some(help) => failure.with_help(help.clone()),
            None => failure,
        };
    }
    let count = errors.problems().len();
    Failure::usage_text(format!("the configuration has {}:\n{errors}", plural(count, "problem")))
}
