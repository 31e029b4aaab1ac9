//! Which commands ran, how they ended, and the errors among them.

use std::collections::HashMap;

use epitome_strategy::commands::{exit_code, first_error, is_failure, is_looking, outcome};
use epitome_strategy::session::heading::is_missing_result;
use epitome_strategy::{Call, ToolOutput};

use super::collector::Collector;
use super::command_line::{command_of, written_by_command};
use super::lines::{SummarySection, clip};

/// One run of a command.
#[derive(Debug)]
pub(crate) struct Run {
    command: String,
    at: u32,
    failed: bool,
    /// The line of its output that says how it ended.
    outcome: Option<String>,
}

impl Run {
    pub(crate) fn from_call(call: &Call<'_>, output: Option<&ToolOutput<'_>>) -> Option<Self> {
        let command = command_of(call)?;
        let (failed, outcome) = match output {
            None => (false, None),
            Some(output) => {
                let outcome = outcome(output.text);
                let exit = exit_code(output.text);
                let failed = match exit {
                    Some(code) => code != 0,
                    // The output of a listing or a diff is not an outcome.
                    None if is_missing_result(output.text) => false,
                    None => output.is_error || (!is_looking(&command) && outcome.is_some_and(is_failure)),
                };
                let line = match failed {
                    true => first_error(output.text).or(outcome),
                    false => outcome.filter(|_| !is_looking(&command)),
                };
                (failed, line.and_then(|line| clip(line, 180)))
            }
        };
        Some(Self { command, at: call.at.message, failed, outcome })
    }

    /// The program and its first word: runs with the same are runs of the same thing.
    fn key(&self) -> String {
        self.command.split_whitespace().filter(|word| !word.contains('=')).take(2).collect::<Vec<_>>().join(" ")
    }
}

/// Adds a line for every command, and one for every error that a run of one ended with.
pub(crate) fn commands(runs: &[Run], collector: &mut Collector) {
    let mut last_good: HashMap<String, usize> = HashMap::new();
    let mut by_command: HashMap<&str, (usize, u32)> = HashMap::new(); // (last run, times)
    for (index, run) in runs.iter().enumerate() {
        if !run.failed {
            last_good.insert(run.key(), index);
        }
        let known = by_command.entry(run.command.as_str()).or_default();
        *known = (index, known.1 + 1);
    }
    // Of an error that comes again the last time counts.
    let last_of_error: HashMap<(String, &str), usize> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some(((run.key(), run.outcome.as_deref()?), index)))
        .collect();
    for (index, run) in runs.iter().enumerate() {
        let (last, times) = by_command[run.command.as_str()];
        if index == last {
            command_line(run, times, collector);
        }
        if run.failed
            && let Some(outcome) = &run.outcome
            && last_of_error.get(&(run.key(), outcome.as_str())) == Some(&index)
        {
            let solved = last_good.get(&run.key()).is_some_and(|good| *good > index);
            let key = run.key();
            let note = match solved {
                true => collector.language.pick(" — a later run succeeded", " — 之后运行成功"),
                false => "",
            };
            // A failure of something that only looks (no such file, no match) is seldom worth a line.
            let value = match (solved, is_looking(&run.command)) {
                (_, true) => 1.5,
                (true, false) => 2.5,
                (false, false) => 5.0,
            };
            let text = format!("`{key}`: {outcome}{note}");
            collector.lines.add(SummarySection::Errors, text, value + collector.recency(run.at), run.at);
        }
    }
}

fn command_line(run: &Run, times: u32, collector: &mut Collector) {
    let times = if times > 1 { format!(" ×{times}") } else { String::new() };
    let ended = match (&run.outcome, run.failed) {
        (_, true) => format!(": {}", collector.language.pick("failed", "失败")),
        (Some(outcome), false) => format!(": {outcome}"),
        (None, false) => String::new(),
    };
    let checks = ["test", "build", "check", "lint", "commit", "push", "deploy", "install", "migrat"];
    // A command that writes a file is listed among the files.
    let value = if is_looking(&run.command) || written_by_command(&run.command).is_some() {
        1.0
    } else {
        3.2 + if checks.iter().any(|word| run.command.contains(word)) { 0.8 } else { 0.0 }
    };
    let text = format!("`{}`{times}{ended}", run.command);
    collector.lines.add(SummarySection::Actions, text, value + collector.recency(run.at), run.at);
}
