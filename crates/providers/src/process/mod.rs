//! Strategies in another process: any program that reads a view as JSON and answers a plan.
//!
//! [`ProcessStrategy`] runs a command for every plan: the request goes to its standard input, the answer comes from its
//! standard output, and the end of its standard error explains a failure. A command that does not exist, crashes,
//! hangs, writes too much or does not answer a plan is an error of that plan, which the engine records before it
//! continues with the chain; no process stays behind. The protocol is on the page `docs/external-strategies.md`.
//!
//! The command runs with the rights, the environment and the working directory of this process: the author of the
//! configuration decides what is run. Use configurations from trusted places only.

mod command;
mod protocol;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome_strategy::{
    Field, Goal, Lossiness, Meta, Plan, PlanError, Registration, RequiredServices, SettingError, SettingsTable,
    Strategy, Value, View, lock, settings,
};

pub use protocol::{VERSION, plan, request};

use command::ProgramLimits;

/// The page of every external strategy.
const DOCS: &str = "# An external strategy

## What it does

It is a program of its own, named by `command` in the configuration: it is given the view and the goal as JSON on its
standard input and answers a plan on its standard output. What the plan does is up to it; the engine refuses what breaks
a guarantee.

## When it helps

See the program's own documentation. A program that fails, hangs or answers no plan is a declined step with a reason.

## Settings

## Source

Your configuration.
";

settings! {
    /// Settings of a strategy in another process.
    pub struct ProcessSettings {
        /// The program and its arguments, without a shell between. It runs with your rights, in the working directory of
        /// epitome.
        command: Vec<String> = Vec::new();
        /// One line for `epitome strategies`; the command itself without this key.
        summary: String = String::new();
        /// How long one plan may take. Then the program and what it has started are ended.
        timeout_ms: u32 = 2_000, in 1..=600_000, unit "milliseconds";
        /// How long an answer may be.
        max_output_bytes: u32 = 8_388_608, in 2..=1_073_741_824, unit "bytes";
    }
}

/// A strategy that asks a program for its plans.
///
/// The program is started for each plan (that takes a few milliseconds) and ended with it. Its plans should be pure: the
/// same request, the same answer.
#[derive(Debug, Clone)]
pub struct ProcessStrategy {
    meta: Meta,
    settings: ProcessSettings,
}

impl ProcessStrategy {
    /// The strategy `id` that `settings` describe. The error names the setting that is wrong.
    ///
    /// Texts of [`Meta`] live as long as the process: `id` and the summary are kept for good, each text once, however
    /// often a configuration with them is read.
    pub fn new(id: &str, settings: ProcessSettings) -> Result<Self, SettingError> {
        if settings.command.first().is_none_or(|program| program.trim().is_empty()) {
            let problem = "takes the program and its arguments, such as [\"python3\", \"strategy.py\"]".to_owned();
            return Err(SettingError { name: "command".to_owned(), problem });
        }
        Ok(Self { meta: meta(id, &settings), settings })
    }

    /// The settings of such strategies with their defaults.
    pub const FIELDS: &'static [Field] = ProcessSettings::FIELDS;

    /// The registration of the strategy `id`: settings that are given when it is built go over those in `values`.
    /// Settings are checked when it is built.
    pub fn registration(id: &str, values: &BTreeMap<String, Value>) -> Registration {
        let mut shown = ProcessSettings::default();
        for (name, value) in values {
            // The problem of a value is reported when the strategy is built.
            let _ = shown.set(name, value);
        }
        let meta = meta(id, &shown);
        let values = values.clone();
        let build = move |given: &BTreeMap<String, Value>| -> Result<Arc<dyn Strategy>, Vec<SettingError>> {
            let mut values = values.clone();
            values.extend(given.clone());
            let settings = ProcessSettings::from_values(&values)?;
            Ok(Arc::new(Self::new(meta.id, settings).map_err(|error| vec![error])?))
        };
        Registration::new(meta, Self::FIELDS, build)
    }
}

impl Strategy for ProcessStrategy {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let request = protocol::request(view, goal).map_err(|error| PlanError(error.to_string()))?;
        let limits = ProgramLimits {
            time: Duration::from_millis(self.settings.timeout_ms.into()),
            output: self.settings.max_output_bytes as usize,
        };
        let answer = command::run(&self.settings.command, request, limits)
            .map_err(|failure| PlanError(format!("`{}` {failure}", self.settings.command.join(" "))))?;
        protocol::plan(&answer.output).map_err(|problem| {
            PlanError(format!("`{}` {problem}{}", self.settings.command.join(" "), command::error_tail(&answer.errors)))
        })
    }
}

fn meta(id: &str, settings: &ProcessSettings) -> Meta {
    let summary = match settings.summary.trim() {
        "" => format!("External: {}", settings.command.join(" ")),
        summary => summary.to_owned(),
    };
    Meta {
        id: intern(id),
        summary: intern(&summary),
        docs: DOCS,
        lossiness: Lossiness::Whole,
        needs: RequiredServices::NONE,
        since: "",
    }
}

/// The same text, kept until the process ends; each text is kept once.
fn intern(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = lock(&KEPT);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    kept.insert(text);
    text
}

#[cfg(test)]
mod tests;
