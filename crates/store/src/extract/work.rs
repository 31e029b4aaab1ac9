//! What the calls of a session show: commands that build, test or check and passed, and commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_session::Message;
use epitome_strategy::commands::{
    LastingResults, check_key, exit_code, first_command, is_check, is_failure, outcome, script_of,
};
use epitome_strategy::cut::is_error_line;
use epitome_strategy::text::clip;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Call, Facts, Language, ToolOutput, View, ZeroCounter};

use crate::memory::MemoryKind;

/// The longest command that is kept, in columns; a longer one is a script.
const LONGEST_COMMAND: usize = 90;

/// The longest subject of a commit, in columns.
const LONGEST_SUBJECT: usize = 200;

/// The most commits, the newest: they show the state of the work.
const MOST_COMMITS: usize = 5;

/// The last lines of an output in which a failure counts.
const LAST_LINES: usize = 40;

/// A command's program with its task, and the folder in which it ran as the memory says it.
pub(crate) type CommandKey = (String, String);

/// Returns the memories of the calls of a session, each with the position of its message. Linear.
pub(super) fn results(messages: &[Arc<Message>]) -> Vec<(usize, MemoryKind, String)> {
    View::read_messages(messages, &ZeroCounter, Language::English, |view| results_of(view.facts()))
}

fn results_of(facts: &Facts<'_>) -> Vec<(usize, MemoryKind, String)> {
    // By key: of the runs since the last failure the shortest command, which says most.
    let mut commands: BTreeMap<CommandKey, Option<(usize, String)>> = BTreeMap::new();
    let mut commits: Vec<(usize, String)> = Vec::new();
    for output in facts.outputs() {
        let Some(call) = output.call.and_then(|call| facts.calls().get(call as usize)) else { continue };
        let Some(script) = script_of(call).filter(|_| call.kind == ToolKind::Shell) else { continue };
        let at = call.at.message as usize;
        let results = LastingResults::of(&script);
        let lasting = output.text.lines().map(str::trim).filter(|line| results.is_reported_by(line));
        commits.extend(lasting.filter_map(commit).map(|text| (at, text)));
        let Some(passed) = ending(output) else { continue };
        for text in checks(call, &script) {
            let Some(key) = command_key(&text) else { continue };
            let known = commands.entry(key).or_default();
            *known = match known.take() {
                _ if !passed => None,
                Some((_, shorter)) if shorter.len() <= text.len() => Some((at, shorter)),
                _ => Some((at, text)),
            };
        }
    }
    commits.drain(..commits.len().saturating_sub(MOST_COMMITS));
    let commands = commands.into_values().flatten().map(|(at, text)| (at, MemoryKind::Command, text));
    commands.chain(commits.into_iter().map(|(at, text)| (at, MemoryKind::Commit, text))).collect()
}

/// Whether the call passed; `None` where its output does not say how it ended. A line of it that reports an error counts
/// also where a pipe hides the exit code.
fn ending(output: &ToolOutput<'_>) -> Option<bool> {
    // Names of tests speak of errors; that a test passed does not.
    let passes = |line: &str| ["pass", "PASS", "ok", "✓"].iter().any(|word| line.contains(word));
    let fails = |line: &str| is_failure(line) || line.starts_with("FAIL") || is_error_line(line) && !passes(line);
    let last = outcome(output.text);
    match exit_code(output.text) {
        Some(code) => Some(code == 0 && !last.is_some_and(is_failure)),
        None if output.is_error || output.text.lines().rev().take(LAST_LINES).any(fails) => Some(false),
        None => last.map(|_| true),
    }
}

/// Returns the commands of a script that build, test or check, each as a memory. Of a script with several lines or with
/// commands that do not depend on each other, the ending of each is not known.
fn checks(call: &Call<'_>, script: &str) -> Vec<String> {
    let place = folder(call, script).map_or(String::new(), |folder| format!(" (in `{folder}`)"));
    // What a filter lets through does not say how the command ended.
    let filtered = script.split(" | ").skip(1).any(|filter| !filter.starts_with("tail") && !filter.starts_with("head"));
    let is_plain =
        !filtered && !script.trim().contains(['\n', ';', '`']) && !script.contains("||") && !script.contains("<<");
    let command = first_command(script).filter(|_| is_plain).unwrap_or_default();
    let parts = command.split("&&").map(|part| {
        let end = [" | ", " > ", " 2>", " >"].iter().filter_map(|mark| part.find(mark)).min();
        part[..end.unwrap_or(part.len())].trim()
    });
    parts
        .filter(|part| is_check(part) && part.len() <= LONGEST_COMMAND)
        .map(|part| format!("`{part}` passed{place}"))
        .collect()
}

/// Returns the folder that a script changes to, or that its call names.
fn folder(call: &Call<'_>, script: &str) -> Option<String> {
    let given = || {
        let json = call.json()?;
        ["workdir", "cwd"].iter().find_map(|key| Some(json.get(*key)?.as_str()?.to_owned()))
    };
    let changed = script.trim_start().strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    let folder = changed.map(|(folder, _)| folder.trim().trim_matches(['"', '\'']).to_owned()).or_else(given)?;
    (!folder.is_empty() && !folder.contains(['`', '$', '\n'])).then_some(folder)
}

/// Returns the key of a command's memory: its program with the task, and the folder. `None` for a text that is none.
pub(crate) fn command_key(memory: &str) -> Option<CommandKey> {
    let (command, place) = memory.strip_prefix('`')?.split_once('`')?;
    Some((check_key(command), place.to_owned()))
}

/// Returns the memory of a commit from git's line about it: `[main 1a2b3c4] Fix the parser`.
fn commit(line: &str) -> Option<String> {
    let (head, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let branch = branch.trim_end_matches(" (root-commit)");
    Some(format!("Commit {hash} on branch {branch}: {}", clip(subject, LONGEST_SUBJECT)?))
}

/// Returns the key of a commit's memory, its subject: one that is amended or moved to another branch has a new hash. `None`
/// for a text that is none.
pub(crate) fn commit_key(memory: &str) -> Option<&str> {
    let (_, subject) = memory.strip_prefix("Commit ")?.split_once(": ")?;
    Some(subject)
}
