//! Which commands ran, how they ended, and the errors among them.

use std::collections::HashMap;

use epitome_strategy::{Call, ToolOutput};
use serde_json::Value;

use super::collect::Collector;
use super::files::written_by_command;
use super::lines::{Section, clip};
use super::outcome::{exit_code, first_error, is_failure, outcome};

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
    pub(crate) fn of(call: &Call<'_>, output: Option<&ToolOutput<'_>>) -> Option<Self> {
        let command = command_of(call)?;
        let (failed, outcome) = match output {
            None => (false, None),
            Some(output) => {
                let outcome = outcome(output.text);
                let exit = exit_code(output.text);
                let failed = match exit {
                    Some(code) => code != 0,
                    // What a listing or a diff shows is no outcome.
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

/// The script that a call runs, as it is.
pub(crate) fn script_of(call: &Call<'_>) -> Option<String> {
    match call.json() {
        Some(json) => ["command", "cmd", "script", "code"].iter().find_map(|key| match json.get(*key)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(words) => words.last().and_then(Value::as_str).map(str::to_owned),
            _ => None,
        }),
        None => Some(call.arguments.to_owned()),
    }
}

/// The command that a call runs, on one line, a change of folder in front of it left out.
pub(crate) fn command_of(call: &Call<'_>) -> Option<String> {
    clip(&one_line(&script_of(call)?)?, 140)
}

/// What tells nothing about a command: where its output went, and what catches its failure.
const NOISE: &[&str] =
    &[" 2>&1", " 2>/dev/null", " | head", " | tail", " || true", " || echo", " && echo", "; echo", " > /dev/null"];

/// The first command of a script on one line: comments, a change of folder in front of it and plumbing behind it left
/// out, the first line of a text that it is given taken in (the subject of a commit's message).
fn one_line(command: &str) -> Option<String> {
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut line = lines.next()?.to_owned();
    while let Some(start) = line.strip_suffix('\\') {
        line = format!("{} {}", start.trim_end(), lines.next()?);
    }
    for mark in ["$(cat <<'EOF'", "$(cat <<EOF", "$(cat << 'EOF'"] {
        if let Some((start, _)) = line.split_once(mark) {
            line = format!("{start}{}", lines.next().unwrap_or_default());
            break;
        }
    }
    if let Some((first, rest)) = line.split_once("&&")
        && first.trim_start().starts_with("cd ")
    {
        line = rest.trim().to_owned();
    }
    let end = NOISE.iter().filter_map(|noise| line.find(noise)).min().unwrap_or(line.len());
    line.truncate(end);
    Some(line)
}

/// Programs that only look.
const LOOKING: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "sed",
    "awk",
    "grep",
    "rg",
    "find",
    "fd",
    "pwd",
    "echo",
    "wc",
    "which",
    "cd",
    "tree",
    "less",
    "ps",
    "sleep",
    "true",
    "stat",
    "file",
    "du",
    "df",
    "env",
    "export",
    "printf",
    "nl",
    "open",
    "goto",
    "scroll_down",
    "scroll_up",
    "search_dir",
    "search_file",
    "find_file",
    "type",
    "jq",
    "date",
    "whoami",
];

/// Sub-commands of `git`, `gh` and the like that only look.
const LOOKING_AT: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "blame",
    "rev-parse",
    "ls-files",
    "api",
    "view",
    "checks",
    "list",
    "remote",
    "add",
];

/// Whether a command, and every one behind it, only looks.
fn is_looking(command: &str) -> bool {
    command.split("&&").flat_map(|part| part.split(';')).all(only_looks)
}

fn only_looks(command: &str) -> bool {
    let mut words = command.split_whitespace().filter(|word| !word.contains('='));
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    LOOKING.contains(&program)
        || (matches!(program, "git" | "gh" | "glab" | "docker" | "kubectl")
            && words.take(3).any(|word| LOOKING_AT.contains(&word)))
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
                true => collector.pick(" — a later run succeeded", " — 之后运行成功"),
                false => "",
            };
            // A failure of something that only looks (no such file, no match) is seldom worth a line.
            let value = match (solved, is_looking(&run.command)) {
                (_, true) => 1.5,
                (true, false) => 2.5,
                (false, false) => 5.0,
            };
            let text = format!("`{key}`: {outcome}{note}");
            collector.lines.add(Section::Errors, text, value + collector.recency(run.at), run.at);
        }
    }
}

fn command_line(run: &Run, times: u32, collector: &mut Collector) {
    let times = if times > 1 { format!(" ×{times}") } else { String::new() };
    let ended = match (&run.outcome, run.failed) {
        (_, true) => format!(": {}", collector.pick("failed", "失败")),
        (Some(outcome), false) => format!(": {outcome}"),
        (None, false) => String::new(),
    };
    let checks = ["test", "build", "check", "lint", "commit", "push", "deploy", "install", "migrat"];
    // What writes a file stands among the files.
    let value = if is_looking(&run.command) || written_by_command(&run.command).is_some() {
        1.0
    } else {
        3.2 + if checks.iter().any(|word| run.command.contains(word)) { 0.8 } else { 0.0 }
    };
    let text = format!("`{}`{times}{ended}", run.command);
    collector.lines.add(Section::Actions, text, value + collector.recency(run.at), run.at);
}
