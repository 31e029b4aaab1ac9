//! Strategies in another process: a table `[strategies.ID]` with a `command` makes one.

use std::collections::BTreeMap;

use epitome_providers::process::ProcessStrategy;
use epitome_strategy::{Registry, Value};

use crate::config::Config;
use crate::error::Problem;

/// The key that makes a table of settings an external strategy.
pub(crate) const COMMAND: &str = "command";

/// The names of the engine's own steps in reports.
const ENGINE_STEPS: &[&str] = &["repair", "thinking", "opening", "floor"];

impl Config {
    /// The strategies of `base` and those in other processes that this configuration adds, by the ids of their tables.
    /// No program is run for it.
    pub fn registry(&self, base: &Registry) -> Registry {
        let mut registry = base.clone();
        for (id, values) in self.external(base) {
            // The id is free: only an id that is not registered yet makes an external strategy.
            let _ = registry.register(ProcessStrategy::registration(id, values));
        }
        registry
    }

    fn external<'a>(&'a self, base: &'a Registry) -> impl Iterator<Item = (&'a String, &'a BTreeMap<String, Value>)> {
        self.strategies.iter().filter(|(id, values)| values.contains_key(COMMAND) && base.get(id).is_err())
    }
}

/// The problems of external strategies' ids; their settings are checked like all others.
pub(crate) fn check(config: &Config, base: &Registry) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (id, _) in config.external(base) {
        let problem = |message: String| Problem::new(config.sources.place(&format!("strategies.{id}")), message);
        if ENGINE_STEPS.contains(&id.as_str()) {
            let problem = problem(format!("a strategy cannot be called `{id}`"));
            problems.push(problem.with_help("this name is reserved for a step of the engine"));
        } else if !is_id(id) {
            let problem = problem(format!("`{id}` is not an id of a strategy"));
            problems.push(problem.with_help("an id is lower-case words with hyphens, such as `my-outline`"));
        }
    }
    problems
}

/// Whether a text is kebab-case: lower-case words and digits with single hyphens, a letter first.
fn is_id(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.split('-').all(is_word)
}
